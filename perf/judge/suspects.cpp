// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/suspects.h"

#include "perf/judge/limits.h"
#include "perf/judge/wording.h"

#include <algorithm>
#include <utility>

namespace kg::judge {
namespace {

// Build B is at least as fast as A, although the screen was suspicious.
void conclude_alike(RowResult& row, const GateOptions& options) {
  if (!row.healthy && options.device == Device::gpu)
    return conclude(row, Verdict::env, Cause::machine_slower);
  row.warning = !row.healthy || !row.ratio || grade(*row.ratio) != Grade::excellent;
  if (!row.healthy) return conclude(row, Verdict::pass, Cause::machine_differs);
  if (options.device == Device::host && !options.other_machine.empty())
    return conclude(row, Verdict::pass, Cause::other_machine);
  if (!row.ratio || *row.ratio >= limits(options.device).fails)
    return conclude(row, Verdict::pass, Cause::confirmed);
  row.warning = false;
  conclude(row, Verdict::regressed, Cause::irreproducible);
}

// Without a confirmation, the screen's verdict stands: inconclusive for a row that looks slower, or
// regressed if it does on a different host by a wide margin; env beside an unhealthy canary; pass
// if only the code has changed.
void fold_row(RowResult& row, const RowConfirmation* confirmation, const GateOptions& options) {
  if (!confirmation || !confirmation->found)
    conclude(row, row.verdict, row.cause);
  else if (const Verdict found = confirmation->found->verdict;
           found == Verdict::pass || found == Verdict::improved)
    conclude_alike(row, options);
  else
    conclude(row, found, Cause::confirmed);
  reword(row, confirmation, options);
}

} // namespace

std::vector<RowKey> suspects(const GateResult& screened, std::size_t most) {
  std::vector<const RowResult*> rows;
  for (const RowResult& row : screened.rows)
    if (row.suspicious) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const RowResult* a, const RowResult* b) {
    return a->suspicion > b->suspicion;
  });
  rows.resize(std::min(rows.size(), most));
  std::vector<RowKey> keys;
  for (const RowResult* row : rows) keys.push_back(row->key);
  return keys;
}

Confirmations unconfirmed(const GateResult& screened, const std::string& reason) {
  Confirmations none;
  for (const RowResult& row : screened.rows)
    if (row.suspicious) none[row.key].unavailable = reason;
  return none;
}

GateResult fold(GateResult screened, const Confirmations& confirmations,
                const GateOptions& options) {
  for (RowResult& row : screened.rows) {
    if (!row.suspicious) continue;
    const auto at = confirmations.find(row.key);
    fold_row(row, at == confirmations.end() ? nullptr : &at->second, options);
    row.suspicious = false;
  }
  set_exit(screened, options.strict);
  return screened;
}

} // namespace kg::judge
