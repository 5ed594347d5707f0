// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Vendor time / our time, today and when the row was blessed. The vendor's kernel is a canary of
// the very same work: a row that loses ground on it has become slower whatever the machine does.
#pragma once

#include "perf/judge/baseline.h"
#include "perf/judge/result.h"

#include <optional>
#include <string>
#include <vector>

namespace kg::judge {

struct Standing {
  std::string vendor;
  double now = 0;
  double then = 0;
  // "cublas 13.0.1 blessed, cublas 13.1.0 here"; empty where the library is the same. Beside
  // another library a drop may be the library's gain, and is for information.
  std::string other_library;

  bool dropped(double tol_pct) const {
    return other_library.empty() && now * (1 + tol_pct / 100) < then;
  }
};

// "0.47 of cublas's speed (0.50 when blessed)", and what that is worth.
std::string text(const Standing& standing);

// Beside the vendor's row of the same case and mode that was the fastest when it was blessed; only
// where there is none of the same library beside one of another version. Nothing where no vendor's
// row is in both, where either has no time, or where an identity (of a vendor's row its library and
// version) is not known.
std::optional<Standing> standing(const Measured& row, const TimingRow& baseline,
                                 const std::vector<Measured>& run, const TimingFile& file);

} // namespace kg::judge
