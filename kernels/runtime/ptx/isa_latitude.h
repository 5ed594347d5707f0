// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Results that the PTX ISA leaves open, where a GPU may differ from the emulator's default. A
// correct kernel is correct with both.
#pragma once

#include <cstdint>
#include <optional>

namespace kg::ptx_run {

struct IsaLatitude {
  // The error of approximations (.approx, and div.full), up to the ISA's bound, is a hash of this
  // seed and of their value. Equal arguments give equal results, as on a GPU. Without a seed,
  // approximations are correctly rounded.
  std::optional<std::uint32_t> approximate = std::nullopt;
  // A product and a sum without rounding modifiers become one fma, if the sum uses the product in
  // straight-line code (PTX ISA, "mul", "add").
  bool fuse = false;
};

// Set by KERNELGRADE_PTX_APPROX=<seed> and KERNELGRADE_PTX_FUSE=1, until set_isa_latitude() sets
// them for kernels compiled from then on. Throws Error for a seed that is not a number.
const IsaLatitude& isa_latitude();
void set_isa_latitude(const IsaLatitude& latitude);

} // namespace kg::ptx_run
