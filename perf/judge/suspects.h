// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From the screen to the final verdict: which rows have to be confirmed, and what a confirmation,
// or the lack of one, makes of them. Pure:
//
//   GateResult result = judge(...);
//   const std::vector<RowKey> rows = suspects(result);
//   result = fold(std::move(result), rows.empty() ? Confirmations{} : <measure them>, options);
#pragma once

#include "perf/judge/confirm.h"
#include "perf/judge/gate.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kg::judge {

// A confirmation takes 60 to 120 fresh processes, which all rows share; beyond this many rows a
// round takes too long for the machine to stay the same.
inline constexpr std::size_t kMostConfirmed = 20;

// The suspicious rows that are to be confirmed, the most suspicious first.
std::vector<RowKey> suspects(const GateResult& screened, std::size_t most = kMostConfirmed);

struct RowConfirmation {
  std::optional<Confirmation> found;
  std::string unavailable; // where there is none: why ("commit 1a2b3c not found", "disabled")
  std::string reference;   // the commit that A is: "1a2b3c4d5e6f"
  // What was seen of the machine beside A and beside B: clocks, power. May be empty.
  std::map<std::string, std::string> tags_a;
  std::map<std::string, std::string> tags_b;
};
using Confirmations = std::map<RowKey, RowConfirmation>;

// No suspicious row can be confirmed, for one reason.
Confirmations unconfirmed(const GateResult& screened, const std::string& reason);

// The final verdicts. Of each suspicious row:
//   regressed     the confirmation says so, whatever the canaries say
//   regressed     both builds are alike, but the row is below the line that fails beside a healthy
//                 canary of the blessed machine: the baseline cannot be reproduced, or what both
//                 builds share has become slower
//   env           the two copies of the reference differ; or both builds are alike and a GPU's
//   canary
//                 is not healthy: the machine is slower
//   pass          both builds are alike; with a warning where the row is no longer `good`, or a
//                 host's canary is not healthy
//   inconclusive  undecided
// What is not confirmed keeps the verdict of the screen.
GateResult fold(GateResult screened, const Confirmations& confirmations,
                const GateOptions& options);

} // namespace kg::judge
