// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns measured times into the table in which a kernel's `automatic` looks up its variant: a file
// of C++ initialisers, one line per device and case, included by a header of the kernel. Pure.
#pragma once

#include "perf/judge/result.h"
#include "perf/judge/row.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::choose {

// One line per case of `op`: our fastest variant in that mode among the rows with correct results,
// with all their times in a comment. The numbers of the case's shape become fields, its other words
// a text:
//   {"nvidia-h200", Dtype::f16, {.m = 64, .n = 64, .k = 4096}, "nn", Variant::mma}, // mma ...
// Throws Error if the run does not name its device or has no such row.
std::vector<std::string> lines(const judge::Results& run, std::string_view op, judge::Mode mode);

// The table's text with these lines in place of all lines of their device.
std::string with_lines(std::string_view table, const std::vector<std::string>& lines);

} // namespace kg::choose
