// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats the comparison of two results.
#pragma once

#include "perf/judge/compare_results.h"

#include <string>

namespace kg::report {

inline constexpr int kComparisonSchema = 1;

// Differences of the environments, the rows, rows of one side only, and reasons of rows that fail.
std::string plain_text(const judge::ComparedResults& compared);
std::string markdown(const judge::ComparedResults& compared);

std::string json(const judge::ComparedResults& compared, int exit_code);

} // namespace kg::report
