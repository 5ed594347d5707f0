// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From measured times to the table in which a kernel's `automatic` looks up its variant: a file of
// C++ initialisers, one line per device and case, that a header of the kernel includes. Pure.
#pragma once

#include "perf/judge/result.h"
#include "perf/judge/row.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::choose {

// One line per case of `op`: the variant of ours that took least in that mode, among the rows with
// right results, with all their times behind it. The numbers of the case's shape become fields, its
// other words a text:
//   {"nvidia-h200", Dtype::f16, {.m = 64, .n = 64, .k = 4096}, "nn", Variant::mma}, // mma ...
// Throws Error where the run does not say its device or has no such row.
std::vector<std::string> lines(const judge::Results& run, std::string_view op, judge::Mode mode);

// The text of a table that holds these lines in place of all that it had of their device.
std::string with_lines(std::string_view table, const std::vector<std::string>& lines);

} // namespace kg::choose
