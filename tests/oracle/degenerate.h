// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kg::test {

// Why some wrong results cannot be distinguished from the correct one. Each reason is verified, and
// disables only the checks that it must.
enum class Degenerate {
  no,
  empty,          // no elements: nothing to check
  single_element, // no permutation, no constant output
  constant,       // all elements equal: no permutation, no constant output
  zero,           // all elements zero, as for k = 0: only changed elements are checked
  sparse, // tiles of zeros only, as in one-hot rows: skips the zeroed tile and the size of the
          // tolerance
};

// For data with this many elements and no other reason to be degenerate.
constexpr Degenerate degenerate_of(std::int64_t elements) {
  if (elements == 0) return Degenerate::empty;
  return elements == 1 ? Degenerate::single_element : Degenerate::no;
}

} // namespace kg::test
