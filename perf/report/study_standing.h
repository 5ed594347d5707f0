// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/lab/study/record.h"
#include "perf/report/sections.h"

namespace kg::report {

// Of a study whose points count items: how many of them per second, of every row, and what it was
// that ran.
Section rate_section(const study::Study& study, const study::Record& record);

// How many experiments are right, and at each point our fastest variant beside the fastest library,
// with its grade; on a CPU, where ours are emulated, no grades. What failed is in no mean and in
// the success rate.
Section standing_section(const study::Record& record);

} // namespace kg::report
