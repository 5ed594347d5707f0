// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/suspects.h"

#include "perf/judge/limits.h"
#include "perf/judge/message.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kg::judge {
namespace {

// What A was, and the machine beside both arms.
std::string arms_text(const RowConfirmation& confirmation) {
  std::string line;
  if (!confirmation.reference.empty()) line += "; A is commit " + confirmation.reference;
  if (const std::string a = machine_text(confirmation.tags_a); !a.empty()) line += "; A: " + a;
  if (const std::string b = machine_text(confirmation.tags_b); !b.empty()) line += "; B: " + b;
  return line;
}

// Both builds are alike, or B is the faster, yet the screen found the row slow.
void conclude_alike(RowResult& row, const std::string& words, const std::string& again,
                    const GateOptions& options) {
  if (!row.healthy && options.device == Device::gpu)
    return conclude(row, Verdict::env, "the machine is slower, not the kernel: " + words, again);
  if (!row.healthy) {
    row.warning = true;
    return conclude(row, Verdict::pass,
                    "this machine is not the blessed one today; side by side, " + words, again);
  }
  row.warning = !row.ratio || grade(*row.ratio) != Grade::excellent;
  if (options.device == Device::host && !options.other_machine.empty())
    return conclude(row, Verdict::pass, "the baseline is another machine's; side by side, " + words,
                    again);
  if (row.ratio && *row.ratio < limits(options.device).fails) {
    row.warning = false;
    return conclude(row, Verdict::regressed,
                    "an irreproducible baseline, or a regression that both builds share: " + words,
                    again);
  }
  conclude(row, Verdict::pass, words, again);
}

void fold_row(RowResult& row, const RowConfirmation* confirmation, const GateOptions& options) {
  // Unconfirmed, the screen's word stands: inconclusive where the row looks slower, regressed by a
  // coarse line on another machine, env where it could not tell, pass where only the code changed.
  if (!confirmation)
    return conclude(row, row.verdict,
                    fmt::format("{}: beyond the {} most suspicious rows, which alone are "
                                "confirmed; judge this one by itself",
                                row.words, kMostConfirmed));
  if (!confirmation->found)
    return conclude(row, row.verdict, fmt::format("{}: {}", row.words, confirmation->unavailable));
  const Confirmation& found = *confirmation->found;
  const std::string words = found.reason + arms_text(*confirmation);
  const std::string again = "ab --base " + confirmation->reference;
  if (found.verdict == Verdict::pass || found.verdict == Verdict::improved)
    return conclude_alike(row, words, again, options);
  conclude(row, found.verdict, words, again);
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
