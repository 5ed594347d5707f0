// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two compared results for people and for programs.
#pragma once

#include "perf/judge/compare_results.h"

#include <string>

namespace kg::report {

inline constexpr int kComparisonSchema = 1;

// What the environments differ in, the rows, the rows of one side only, and why rows did not pass.
std::string plain_text(const judge::ComparedResults& compared);
std::string markdown(const judge::ComparedResults& compared);

std::string json(const judge::ComparedResults& compared, int exit_code);

} // namespace kg::report
