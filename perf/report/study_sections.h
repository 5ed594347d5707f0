// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a study found, for people: sections that the console, report.md and the page show alike.
#pragma once

#include "perf/lab/study/record.h"
#include "perf/lab/study/study.h"
#include "perf/report/sections.h"

#include <vector>

namespace kg::report {

// The machine; every experiment with its times and its check; relative speeds; the variant to take
// at each point; overheads, exponents and crossovers where the study has a scaling; kernels by
// time; failures. Of an unfinished study what there is.
std::vector<Section> study_sections(const study::Study& study, const study::Record& record);

// 1 where an experiment or a fitted exponent failed, 77 where everything was skipped.
int exit_code(const study::Study& study, const study::Record& record, bool strict);

} // namespace kg::report
