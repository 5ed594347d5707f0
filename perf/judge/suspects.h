// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From the screen to the final verdict: selects the rows to confirm, and folds the confirmations
// into the result. Pure:
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

// A confirmation runs 60 to 120 fresh processes, shared by all rows. With more rows than this, one
// round takes so long that the machine may change meanwhile.
inline constexpr std::size_t kMostConfirmed = 20;

// The suspicious rows to confirm, the most suspicious first.
std::vector<RowKey> suspects(const GateResult& screened, std::size_t most = kMostConfirmed);

struct RowConfirmation {
  std::optional<Confirmation> found;
  std::string unavailable; // why there is none ("commit 1a2b3c not found", "disabled")
  std::string reference;   // the commit of build A: "1a2b3c4d5e6f"
  // Clocks and power during A and during B. May be empty.
  std::map<std::string, std::string> tags_a;
  std::map<std::string, std::string> tags_b;
};
using Confirmations = std::map<RowKey, RowConfirmation>;

// Marks every suspicious row as unconfirmed, with the same reason.
Confirmations unconfirmed(const GateResult& screened, const std::string& reason);

// The final verdict of each suspicious row:
//   regressed     the confirmation found a regression, whatever the canaries say
//   regressed     both builds are equally fast, but the row is below Limits::fails and the canary
//                 is healthy on the blessed machine: the baseline cannot be reproduced, or code
//                 that both builds share has become slower
//   env           the two copies of the reference differ; or both builds are equally fast and a
//                 GPU's canary is unhealthy, so the machine is slower
//   pass          both builds are equally fast; with a warning if the row's grade has dropped or a
//                 host's canary is unhealthy
//   inconclusive  the confirmation was undecided
// A row without a confirmation keeps the screen's verdict.
GateResult fold(GateResult screened, const Confirmations& confirmations,
                const GateOptions& options);

} // namespace kg::judge
