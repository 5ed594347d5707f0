// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a study found, for people: sections that the console, report.md and the page show alike.
#pragma once

#include "perf/judge/table.h"
#include "perf/study/record.h"
#include "perf/study/study.h"

#include <optional>
#include <string>
#include <vector>

namespace kg::report {

// Lines, then a table.
struct Section {
  std::string title;
  std::vector<std::string> lines;
  std::optional<judge::TextTable> table = std::nullopt;
};

// The machine; every experiment with its times and its check; relative speeds; the variant to take
// at each point; overheads, exponents and crossovers where the study has a scaling; kernels by
// time; failures. Of an unfinished study what there is.
std::vector<Section> study_sections(const study::Study& study, const study::Record& record);

std::string plain_text(const std::vector<Section>& sections);
// `level`: of the first heading; those of the others are one below.
std::string markdown(const std::vector<Section>& sections, int level = 1);

// 1 where an experiment or a fitted exponent failed, 77 where everything was skipped.
int exit_code(const study::Study& study, const study::Record& record, bool strict);

} // namespace kg::report
