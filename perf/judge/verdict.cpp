// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/verdict.h"

#include <algorithm>
#include <cstddef>

namespace kg::judge {

std::string_view name(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass: return "pass";
  case Verdict::improved: return "improved";
  case Verdict::regressed: return "regressed";
  case Verdict::inconclusive: return "inconclusive";
  case Verdict::invalid: return "invalid";
  case Verdict::unblessed: return "unblessed";
  case Verdict::env: return "env";
  case Verdict::skipped: return "skipped";
  }
  return "";
}

int usual_exit(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass:
  case Verdict::improved: return kExitPass;
  case Verdict::regressed:
  case Verdict::invalid: return kExitFail;
  case Verdict::inconclusive:
  case Verdict::unblessed:
  case Verdict::env:
  case Verdict::skipped: return kExitSkip;
  }
  return kExitFail;
}

int exit_of_rows(const std::vector<RowExit>& rows, bool strict) {
  constexpr std::size_t kStrictShare = 20; // one undecided row in so many
  std::size_t gated = 0, undecided = 0;
  for (const RowExit& row : rows) {
    if (row.code == kExitFail) return kExitFail;
    if (row.informs) continue;
    ++gated;
    if (row.code == kExitSkip) ++undecided;
  }
  if (strict) return gated > undecided && kStrictShare * undecided <= gated ? kExitPass : kExitFail;
  return gated == 0 || 2 * undecided > gated ? kExitSkip : kExitPass;
}

int combined_exit(const std::vector<int>& exits, bool strict) {
  const auto any = [&](int code) {
    return std::find(exits.begin(), exits.end(), code) != exits.end();
  };
  if (exits.empty() || any(kExitFail)) return kExitFail;
  if (any(kExitSkip)) return strict ? kExitFail : kExitSkip;
  return kExitPass;
}

} // namespace kg::judge
