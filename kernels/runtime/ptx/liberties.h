// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the PTX ISA leaves open and a GPU may do otherwise than the executor does of itself. A
// kernel that is right is right with both.
#pragma once

#include <cstdint>
#include <optional>

namespace kg::ptx_run {

struct Liberties {
  // Approximations (.approx, and div.full) are off by up to the ISA's bound, by a hash of this
  // seed and of their value: the same arguments give the same result, as on a GPU. None: they are
  // correctly rounded.
  std::optional<std::uint32_t> approximate = std::nullopt;
  // A product and a sum without a rounding modifier, the one of the other in straight code, become
  // one fma (PTX ISA, "mul", "add").
  bool fuse = false;
};

// As KERNELGRADE_PTX_APPROX=<seed> and KERNELGRADE_PTX_FUSE=1 say, until take_liberties() says
// otherwise for kernels compiled from then on. Throws Error for a seed that is no number.
const Liberties& liberties();
void take_liberties(const Liberties& liberties);

} // namespace kg::ptx_run
