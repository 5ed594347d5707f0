// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study's results as sections, shared by the console, report.md and the page.
#pragma once

#include "perf/lab/study/record.h"
#include "perf/lab/study/study.h"
#include "perf/report/sections.h"

#include <vector>

namespace kg::report {

// The machine; all experiments with times and checks; relative speeds; the best variant at each
// point; overheads, exponents and crossovers if the study has a scaling; kernels by time; failures.
// For an unfinished study, what is available.
std::vector<Section> study_sections(const study::Study& study, const study::Record& record);

// 1 if an experiment or a fitted exponent failed; otherwise as exit_of_rows().
int exit_code(const study::Study& study, const study::Record& record, bool strict);

} // namespace kg::report
