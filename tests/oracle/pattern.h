// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds what wrong elements have in common. A kernel's bug has a shape: the last column, one lane
// of a warp, one tile.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kg::test {

// A hint: "every element", "row 7", "columns >= 96", "index % 32 == 31", "one 16x16 tile at (32,
// 48)", or that there is no pattern. `failures` are the row-major indices of the wrong elements,
// ascending and unique; `shape` has no extent 0. Dimensions are named index (rank 1), row and
// column (rank 2), or dimension 0, 1, ... (other ranks).
std::string pattern_hint(std::span<const std::int64_t> failures,
                         std::span<const std::int64_t> shape);

} // namespace kg::test
