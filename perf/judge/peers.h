// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that another framework measured (perf/peers): they are no variants of this build, and stand
// beside ours all the same.
#pragma once

#include "perf/judge/command.h"
#include "perf/judge/gate.h"
#include "perf/judge/result.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace kg::judge {

inline constexpr const char* kPeerTag = "peer"; // its value is the framework
// Of a model that is trained: what it lost before each step and behind the last, and what we did.
inline constexpr const char* kLossesTag = "losses";
inline constexpr const char* kOurLossesTag = "our_losses";

// A library that does what our kernels do, which is what they are held to. A framework's row is one
// of a vendor, too, but holds what its Python takes.
inline bool is_library(const Measured& row) {
  return row.kind == Kind::vendor && !row.tags.contains(kPeerTag);
}

// The command that measures the row again.
inline std::string again(const Measured& row) {
  const auto peer = row.tags.find(kPeerTag);
  if (peer == row.tags.end()) return row_command("run", row.op, row.dtype, row.key);
  return command(fmt::format("peers --op {} --dtype {} --shape {} --peer {}", row.op, row.dtype,
                             shape_of(row.key.case_id), peer->second));
}

// Adds the frameworks' rows among those that were measured.
inline void register_peers(const std::vector<Measured>& measured,
                           std::vector<Registered>& registered) {
  for (const Measured& row : measured)
    if (row.tags.contains(kPeerTag) && row.kind == Kind::vendor)
      registered.push_back({row.op, row.dtype, row.key, row.category, row.kind, true});
}

} // namespace kg::judge
