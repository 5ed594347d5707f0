// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine code for tests: that of kernels.cu, and what a test writes itself.
#pragma once

#include "perf/code/sass/listing.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <cstdint>
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

// Instructions with control codes: "S04 Y W1 R2 B03 FADD R0, R4, R8" stands still for four clocks,
// yields, holds counters 1 and 2, and waits for 0 and 3. What is left out is none; one clock.
inline Function controlled(const std::vector<std::string>& lines) {
  std::string text = "\t.section\t.text.made,\"ax\",@progbits\n\t.type made,@function\nmade:\n";
  unsigned address = 0;
  for (std::string line : lines) {
    if (line.starts_with('.') || line.starts_with("//")) {
      text += line + "\n";
      continue;
    }
    std::uint64_t stall = 1, no_yield = 1, writes = 7, reads = 7, wait = 0;
    for (;;) {
      const std::string word = line.substr(0, line.find(' '));
      const bool digits = word.size() > 1 && word.find_first_not_of("0123456789", 1) == word.npos;
      if (word == "Y")
        no_yield = 0;
      else if (!digits)
        break;
      else if (word[0] == 'S')
        stall = std::stoull(word.substr(1));
      else if (word[0] == 'W')
        writes = std::stoull(word.substr(1));
      else if (word[0] == 'R')
        reads = std::stoull(word.substr(1));
      else if (word[0] == 'B')
        for (const char counter : word.substr(1)) wait |= 1u << (counter - '0');
      line.erase(0, word.size() + 1);
    }
    text += fmt::format("        /*{:04x}*/  {} ;  /* 0x{:016x} */\n  /* 0x{:016x} */\n",
                        16 * address++, line, 0,
                        stall << 41 | no_yield << 45 | writes << 46 | reads << 49 | wait << 52);
  }
  return read_listing(text, "made").at(0);
}

} // namespace kg::sass::test
