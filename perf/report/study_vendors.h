// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/lab/study/record.h"
#include "perf/report/sections.h"

namespace kg::report {

// For studies whose points count items: items per second of each row, and what ran.
Section rate_section(const study::Study& study, const study::Record& record);

// How many experiments are correct, and at each point our fastest variant against the fastest
// library with its grade. No grades on a CPU, where our kernels are emulated. Failed experiments
// enter no mean but count in the success rate.
Section vendors_section(const study::Record& record);

} // namespace kg::report
