// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists what costs time in a kernel's machine code, by line, with the fix.
#pragma once

#include "perf/code/sass/limit_share.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::sass {

struct Hint {
  // "serial loads", "few loads", "library call", "division", "integer division", "conversions",
  // "instructions", "special functions" or "local memory".
  std::string kind;
  std::string line; // "row.h:25"
  std::string
      text; // "row.h:25 (softmax.cu:43): 4 loads of 16 bytes ...: convert behind the branch"
};

// Hints of the main part, plus divisions and calls in other loops. Most severe first.
std::vector<Hint> hints_of(const Kernel& kernel, const LimitShare& limit_share,
                           const model::Gpu* gpu);

} // namespace kg::sass
