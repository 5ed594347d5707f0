// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine code for tests: that of kernels.cu, and what a test writes itself.
#pragma once

#include "perf/sass/listing.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

namespace kg::sass::test {

// What nvdisasm wrote of kernels.cu.
inline std::vector<Function> kernels() {
  return read_listing(read_file(KERNELGRADE_SASS).value(), "kernels.sass");
}

inline Function kernel(std::string_view part) {
  const std::vector<Function> all = kernels();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Function& one) {
    return one.symbol == one.kernel && one.symbol.find(part) != std::string::npos;
  });
  require(at != all.end(), fmt::format("kernels.sass holds no kernel {}", part));
  return *at;
}

// Lines of instructions and labels: "  LDG.E R0, desc[UR4][R2.64]", ".L_1:", and lines of sources:
// "//## File \"a.cu\", line 3".
inline std::vector<Function> functions(const std::vector<std::string>& lines) {
  std::string text = "\t.section\t.text.made,\"ax\",@progbits\n\t.type made,@function\nmade:\n";
  unsigned address = 0;
  for (const std::string& line : lines) {
    const bool instruction = !line.starts_with('.') && !line.starts_with("//");
    text +=
        instruction ? fmt::format("        /*{:04x}*/  {} ;\n", 16 * address++, line) : line + "\n";
  }
  return read_listing(text, "made");
}

inline Function function(const std::vector<std::string>& lines) { return functions(lines).at(0); }

} // namespace kg::sass::test
