// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What wrong elements have in common. A bug in a kernel has a shape: the last column, one lane of a
// warp, one tile.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kg::test {

// A hint in words: "every element", "row 7", "columns >= 96", "index % 32 == 31", "one 16x16 tile
// at (32, 48)", or that there is none. `failures` are the row-major numbers of the wrong elements,
// ascending, none twice; `shape` has no extent 0. Names of dimensions: index (rank 1), row and
// column (rank 2), dimension 0, 1, ... (others).
std::string pattern_hint(std::span<const std::int64_t> failures,
                         std::span<const std::int64_t> shape);

} // namespace kg::test
