// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elects one lane of a warp (PTX ISA, "elect.sync"): the first lane in thread order forward, the
// last lane in reverse, a random lane in random.
#pragma once

#include "runtime/host/block.h"

#include <bit>

namespace kg::host {

inline void resolve_elect(void* const* payload, unsigned lanes) {
  Block& block = *current_block;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const auto last = kWarpSize - 1 - static_cast<unsigned>(std::countl_zero(lanes));
  unsigned chosen = first;
  if (block.launch().schedule.order == ThreadOrder::reverse) chosen = last;
  if (block.launch().schedule.order == ThreadOrder::random) {
    do {
      chosen = static_cast<unsigned>(block.random_bits() % kWarpSize);
    } while ((lanes >> chosen & 1) == 0);
  }
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
