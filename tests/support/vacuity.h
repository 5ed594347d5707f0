// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Proof that a comparison could have failed: on each case's own expectation the comparator must
// reject results that are wrong. It costs a few passes over host data.
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

// Accepts the expectation itself and rejects: zeros; one constant; the elements moved on by one
// place; zeros in any 16x16 tile of the last two dimensions (run of 16 for rank 1); each element,
// alone and with all others, moved by 1.5 tolerances (one ulp where the tolerance is 0). At least
// half of the tolerances are below half the median magnitude. The failure lists what was not
// rejected.
testing::AssertionResult not_vacuous(const Expectation& expected,
                                     Degenerate degenerate = Degenerate::no);

// The same for compare_bits, with one bit flipped for the moved element.
testing::AssertionResult not_vacuous_bits(Dtype dtype, const std::vector<std::int64_t>& shape,
                                          std::span<const std::uint64_t> expected,
                                          Degenerate degenerate = Degenerate::no);

} // namespace kg::test
