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
#include "tests/support/compare.h"

namespace kg::test {

// Why some wrong results cannot be told from the right one. Each reason is verified and lifts only
// what it must.
enum class Degenerate {
  no,
  empty,          // no elements: nothing to check
  single_element, // no permutation, no constant output
  constant,       // all elements equal: no permutation, no constant output
  zero,           // all elements zero, as for k = 0: only moved elements
  sparse, // tiles of nothing but zeros, as one-hot rows have: neither a zeroed tile nor the size of
          // the tolerance
};

std::string_view reason(Degenerate degenerate);

// Of what has so many elements, and nothing else that would make it degenerate.
constexpr Degenerate degenerate_of(std::int64_t elements) {
  if (elements == 0) return Degenerate::empty;
  return elements == 1 ? Degenerate::single_element : Degenerate::no;
}

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
