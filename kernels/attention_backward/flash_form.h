// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the two kernels of flash (attention_backward_flash.cu) cut their tensors into tiles.
#pragma once

#include "attention/flash_depths.h"
#include "attention/token_tile.h"
#include "attention/warp_rows.h"
#include "attention_backward/gradient.h"
#include "runtime/device_code.h"

#include <cstddef>

namespace kg::attention_backward {

using attention::add_rows;
using attention::add_weighted;
using attention::kWarpRows;
using attention::put_rows;
using attention::store_rows;
using attention::TokenTile;

constexpr int kTile = 64; // tokens of a block
constexpr int kWarps = kTile / kWarpRows;

// kDepth, kValueDepth: the depths, rounded up to what there is a kernel for. A row of Q or K is
// wide, one of V or dout a value.
template <class T, int kDepth, int kValueDepth, int kHalves>
struct Form {
  static constexpr int kThreads = kHalves * kWarps * 32;
  static constexpr int kLeastBlocks = kDepth <= 128 ? 2 : 1;
  static constexpr int kStep = kDepth <= 64 ? 64 : 32; // tokens that a block meets at a time
  static constexpr int kScores = kStep / 8;
  static constexpr int kSums = kDepth / 8 / kHalves, kValueSums = kValueDepth / 8 / kHalves;

  using OwnWide = TokenTile<T, kTile, kDepth, kThreads>;
  using OwnValue = TokenTile<T, kTile, kValueDepth, kThreads>;
  using Wide = TokenTile<T, kStep, kDepth, kThreads>;
  using Value = TokenTile<T, kStep, kValueDepth, kThreads>;

  // What a block meets: rows of two tensors, and a Row for each where they are queries.
  static constexpr int kStage =
      Wide::kElements + Value::kElements + kStep * static_cast<int>(sizeof(Row) / sizeof(T));
  static constexpr std::size_t kSharedBytes =
      (OwnWide::kElements + OwnValue::kElements + 2 * kStage) * sizeof(T);
};
template <int kDepth>
inline constexpr int kKeyHalves = kDepth <= 128 ? 1 : 2;
template <class T, int kDepth, int kValueDepth>
using KeyForm = Form<T, kDepth, kValueDepth, kKeyHalves<kDepth>>;
template <class T, int kDepth, int kValueDepth>
using QueryForm = Form<T, kDepth, kValueDepth, 1>;

} // namespace kg::attention_backward
