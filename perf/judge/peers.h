// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows measured by other frameworks (perf/peers). They are not variants of this build, but are
// reported with it.
#pragma once

#include "perf/judge/command.h"
#include "perf/judge/result.h"
#include "perf/judge/verdict.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace kg::judge {

inline constexpr const char* kPeerTag = "peer"; // its value is the framework
// For a trained model: its loss before each step and after the last, and ours.
inline constexpr const char* kLossesTag = "losses";
inline constexpr const char* kOurLossesTag = "our_losses";

// Whether the row is a library's, to which our kernels are compared. A framework's row has Kind::
// vendor as well, but includes its Python overhead.
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

// Registers the measured rows of frameworks.
inline void register_peers(const std::vector<Measured>& measured,
                           std::vector<Registered>& registered) {
  for (const Measured& row : measured)
    if (row.tags.contains(kPeerTag) && row.kind == Kind::vendor)
      registered.push_back({row.op, row.dtype, row.key, row.category, row.kind, true});
}

} // namespace kg::judge
