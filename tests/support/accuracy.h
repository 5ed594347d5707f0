// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How much of their bounds the results of a correctness program take. A bound that is never half
// used is one to look at again; one that is nearly used up says where a kernel is least accurate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ledger.h"

namespace kg::test {

// `share`: the largest error over tolerance of the elements of `output`; `where`: shape and data.
// Of each variant and output the largest is kept until the program ends.
void record_share(const VariantId& id, std::string_view output, double share,
                  std::string_view where);

// "softmax.f32, variant block: y takes 0.41 of its bound at most (rows8_cols3001, normal)", in the
// order of the variants' names.
std::vector<std::string> largest_shares();

} // namespace kg::test
