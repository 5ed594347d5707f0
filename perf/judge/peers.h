// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that another framework measured (perf/peers): they are no variants of this build, and stand
// beside ours all the same.
#pragma once

#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <vector>

namespace kg::judge {

inline constexpr const char* kPeerTag = "peer"; // its value is the framework

// A library that does what our kernels do, which is what they are held to. A framework's row is one
// of a vendor, too, but holds what its Python takes.
inline bool is_library(const Measured& row) {
  return row.kind == Kind::vendor && !row.tags.contains(kPeerTag);
}

// Adds the frameworks' rows among those that were measured.
inline void register_peers(const std::vector<Measured>& measured,
                           std::vector<Registered>& registered) {
  for (const Measured& row : measured)
    if (row.tags.contains(kPeerTag) && row.kind == Kind::vendor)
      registered.push_back({row.op, row.dtype, row.key, row.category, row.kind, true});
}

} // namespace kg::judge
