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
};

// Beside the vendor's row of the same case and mode that was the fastest when it was blessed.
// Nothing where there is none in both, where either has no time, or where its library may have
// changed: both identities (of a vendor's row its library and version) must be known and equal.
std::optional<Standing> standing(const Measured& row, const TimingRow& baseline,
                                 const std::vector<Measured>& run, const TimingFile& file);

} // namespace kg::judge
