// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry points of the variants tiled, flash and wgmma. attention.cu calls them with a valid,
// supported problem that has at least one query.
#pragma once

#include "ops/attention/visible.h"
#include "runtime/stream.h"

#include <cstddef>

namespace kg::attention {

inline constexpr int kTileQueries = 64; // queries per block of tiled and flash

void run_tiled(const Arguments<float>& arguments, Stream& stream);
template <class T> // f16, bf16
void run_flash(const Arguments<T>& arguments, Stream& stream);
template <class T> // f16, bf16; a problem that fits tensor maps (attention.cu)
void run_wgmma(const Arguments<T>& arguments, Stream& stream);

// Bytes of dynamic shared memory per block of flash.
std::size_t flash_shared_bytes(std::int64_t depth, std::int64_t value_depth);

// The grid size of tiled and flash: one block per tile of queries and head. Throws Error if it
// exceeds the largest grid.
unsigned tile_blocks(std::int64_t tiles, std::int64_t heads);

} // namespace kg::attention
