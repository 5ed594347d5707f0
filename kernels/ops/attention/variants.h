// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants that have files of their own, as attention.cu calls them: the problem is valid, has
// queries, and is supported.
#pragma once

#include "ops/attention/visible.h"
#include "runtime/stream.h"

#include <cstddef>

namespace kg::attention {

inline constexpr int kTileQueries = 64; // of a block of tiled or flash

void run_tiled(const Arguments<float>& arguments, Stream& stream);
template <class T> // f16, bf16
void run_flash(const Arguments<T>& arguments, Stream& stream);

// Bytes of shared memory that flash needs for heads of this depth.
std::size_t flash_shared_bytes(std::int64_t depth, std::int64_t value_depth);

// The grid of tiled and flash: a block for each tile of queries of each head. Throws Error where
// there are more than a launch can have.
unsigned tile_blocks(std::int64_t tiles, std::int64_t heads);

} // namespace kg::attention
