// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Proof that a comparison could have failed: the comparator must reject wrong results for each
// case's own expectation. Costs a few passes over host data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/dtype.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/degenerate.h"

namespace kg::test {

std::string_view reason(Degenerate degenerate);

// Accepts the expectation itself and rejects: zeros; one constant; all elements shifted by one;
// zeros in any 16x16 tile of the last two dimensions (a run of 16 for rank 1); each element, alone
// and with all others, off by 1.5 tolerances (one ulp if the tolerance is 0). At least half of the
// tolerances must be below half the median magnitude. A failure lists what was not rejected.
testing::AssertionResult not_vacuous(const Expectation& expected,
                                     Degenerate degenerate = Degenerate::no);

// The same for compare_bits, with one flipped bit as the wrong element.
testing::AssertionResult not_vacuous_bits(Dtype dtype, const std::vector<std::int64_t>& shape,
                                          std::span<const std::uint64_t> expected,
                                          Degenerate degenerate = Degenerate::no);

} // namespace kg::test
