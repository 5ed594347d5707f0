// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elects the first of the lanes in each order of threads (PTX ISA, "elect.sync"). The ISA only says
// that it is the same one each time; kernels of CUTLASS rely on the first.
#pragma once

#include "runtime/host/block.h"

#include <bit>

namespace kg::host {

inline void resolve_elect(void* const* payload, unsigned lanes) {
  const auto chosen = static_cast<unsigned>(std::countr_zero(lanes));
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    *static_cast<unsigned*>(payload[std::countr_zero(rest)]) = chosen;
}

// `name` is the function that the kernel called.
inline unsigned elected_lane(unsigned mask, const char* name, Location where) {
  unsigned lane = 0;
  running_block(name, where).collective(mask, &lane, &resolve_elect, name, where);
  return lane;
}

} // namespace kg::host
