// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/control.h"

namespace kg::sass {

// Bits 105 to 121 of an instruction: Jia et al., "Dissecting the NVIDIA Volta GPU architecture via
// microbenchmarking", 2018 (arXiv 1804.06826), section on control information. CuAssembler
// (github.com/cloudcores/CuAssembler) has the same fields up to sm_90 in its CuInsAssembler. The
// bit of `yield` is inverted, and counter 7 means none.
Control control_of(std::uint64_t upper) {
  const auto field = [upper](int from, int bits) {
    return static_cast<std::uint32_t>(upper >> (from - 64)) & ((1u << bits) - 1);
  };
  const auto counter = [](std::uint32_t number) {
    return number < kCounters ? static_cast<int>(number) : -1;
  };
  return {static_cast<int>(field(105, 4)), field(109, 1) == 0, counter(field(110, 3)),
          counter(field(113, 3)), field(116, kCounters)};
}

} // namespace kg::sass
