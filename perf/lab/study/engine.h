// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Conducts a study: every experiment of its plan that is not in its file yet.
#pragma once

#include "perf/lab/study/record.h"

#include <functional>

namespace kg::study {

// Measures one experiment. A variant that fails is an experiment with a failed row, not an
// exception: any exception ends the study, which can then be resumed.
using Measure = std::function<Experiment(const Planned& planned)>;

// Measures the missing experiments in the order of the plan, and adds each to the file before the
// next begins.
void conduct(RecordFile& file, const Measure& measure);

} // namespace kg::study
