// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tile shapes of the two kernels of flash (attention_backward_flash.cu).
#pragma once

#include "ops/attention/flash_depths.h"
#include "ops/attention/token_tile.h"
#include "ops/attention/warp_rows.h"
#include "ops/attention_backward/gradient.h"
#include "runtime/device_code.h"

#include <cstddef>

namespace kg::attention_backward {

using attention::add_rows;
using attention::add_weighted;
using attention::kWarpRows;
using attention::put_rows;
using attention::store_rows;
using attention::TokenTile;

constexpr int kTile = 64; // keys per block
constexpr int kWarps = kTile / kWarpRows;

// kDepth, kValueDepth: the head dimensions, rounded up to a compiled kernel. Wide: rows of Q or K;
// Value: rows of V or dout. Each of kRowWarps warps has kBlocks x 16 of the block's own tokens;
// kHalves warps share the same tokens.
template <class T, int kDepth, int kValueDepth, int kHalves, int kRowWarps, int kBlocks>
struct Form {
  static constexpr int kRowBlocks = kBlocks;
  static constexpr int kOwn = kRowWarps * kBlocks * kWarpRows; // tokens per block
  static constexpr int kThreads = kHalves * kRowWarps * 32;
  static constexpr int kLeastBlocks = kDepth <= 128 ? 2 : 1;
  // Tokens that the other side of the product has per step.
  static constexpr int kStep = kDepth <= 64 && kBlocks == 1 ? 64 : 32;
  static constexpr int kScores = kStep / 8;
  static constexpr int kSums = kDepth / 8 / kHalves, kValueSums = kValueDepth / 8 / kHalves;

  using OwnWide = TokenTile<T, kOwn, kDepth, kThreads>;
  using OwnValue = TokenTile<T, kOwn, kValueDepth, kThreads>;
  using Wide = TokenTile<T, kStep, kDepth, kThreads>;
  using Value = TokenTile<T, kStep, kValueDepth, kThreads>;

  // One stage of these tokens: rows of two tensors, and a Row for each if they are queries.
  static constexpr int kStage =
      Wide::kElements + Value::kElements + kStep * static_cast<int>(sizeof(Row) / sizeof(T));
  static constexpr std::size_t kSharedBytes =
      (OwnWide::kElements + OwnValue::kElements + 2 * kStage) * sizeof(T);
};
template <int kDepth>
inline constexpr int kKeyHalves = kDepth <= 128 ? 1 : 2;
template <class T, int kDepth, int kValueDepth>
using KeyForm = Form<T, kDepth, kValueDepth, kKeyHalves<kDepth>, kWarps, 1>;
// Query blocks accumulate only dQ, so a warp has room for twice as many queries and reads half as
// much of K and V per query. 128 queries of 96 elements would exceed the shared memory of Turing.
template <class T, int kDepth, int kValueDepth>
using QueryForm = Form<T, kDepth, kValueDepth, 1, kDepth == 96 ? 2 : kWarps, kDepth <= 128 ? 2 : 1>;

} // namespace kg::attention_backward
