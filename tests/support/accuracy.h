// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The share of their bounds that a correctness program's results use. A bound that is never half
// used deserves a second look; one nearly used up shows where a kernel is least accurate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ledger.h"

namespace kg::test {

// `share`: the largest ratio of error to tolerance in `output`; `where`: shape and data. The
// maximum of each variant and output is kept until the program ends.
void record_share(const VariantId& id, std::string_view output, double share,
                  std::string_view where);

// "softmax.f32, variant block: y takes 0.41 of its bound at most (rows8_cols3001, normal)", sorted
// by variant name.
std::vector<std::string> largest_shares();

} // namespace kg::test
