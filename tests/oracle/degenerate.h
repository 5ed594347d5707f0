// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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

// Of what has so many elements, and nothing else that would make it degenerate.
constexpr Degenerate degenerate_of(std::int64_t elements) {
  if (elements == 0) return Degenerate::empty;
  return elements == 1 ? Degenerate::single_element : Degenerate::no;
}

} // namespace kg::test
