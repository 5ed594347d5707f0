// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of scaled, masked rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/oracle/oracle.h"

namespace kg::test {

// The softmax oracle of scale x where `keep` is nonzero and of -inf elsewhere. A row of -inf only
// is 0 here; its distances, like those of all masked elements, are infinite. `keep` has one entry
// per element.
SoftmaxOracle masked_softmax_oracle(double scale, std::span<const double> x,
                                    std::span<const std::uint8_t> keep, std::int64_t rows,
                                    std::int64_t columns);

// The mask of rows in sequences of `queries`: row i of a sequence keeps the columns j <= i +
// columns - queries.
std::vector<std::uint8_t> causal_keep(std::int64_t rows, std::int64_t columns,
                                      std::int64_t queries);

} // namespace kg::test
