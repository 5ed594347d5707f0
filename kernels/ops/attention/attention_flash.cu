// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention, variant flash (Dao, "FlashAttention-2", arXiv 2307.08691). A block processes 64
// queries of one head, 32 per warp. It makes one pass over the keys that any of them sees, in tiles
// of 64. Scores, weights and sums stay in registers: the accumulators of the first MMA, packed in
// pairs, are the operand of the second. Beyond a depth of 128 that takes too many registers, so 4
// warps have 16 queries each.
//
// The tile of V is in flight while scores are computed from a tile of K. The next tile of K is in
// flight while the weights are multiplied by V. So one buffer of each is enough, with a barrier
// before each product. Q stays in registers at a depth of 64. For larger depths its fragments are
// loaded again for each tile.
//
// Bytes: Q, K, V and out once from memory; K and V once more from L2 for each other tile of 64
// queries. Flops: 2 (depth + value_depth) per unmasked pair, rounded up to tiles of 64 x 64 and
// depths of 64, 96, 128, 192 or 256. The machine code's upper bound is 86 to 88 % of mma.sync's
// peak on Hopper. With 16 queries per warp it is 57 %, limited by shared loads. With two
// warps per scheduler, every other instruction delays an MMA. So results are rescaled only if a row
// has a new maximum, and weights below 2^-126 are flushed to 0. Why not several warps per row of
// scores: their sums would have to be combined in shared memory. Variant
// wgmma has twice its peak, on compute capability 9.0 alone.
//
// Blocks take the tiles of queries from last to first. With a causal mask the last tiles have the
// most work, and no block should start late with a long tile.
#include "instructions/cp_async.h"
#include "instructions/raw_words.h"
#include "ops/attention/flash_depths.h"
#include "ops/attention/row_softmax.h"
#include "ops/attention/token_tile.h"
#include "ops/attention/variants.h"
#include "ops/attention/visible.h"
#include "ops/attention/warp_rows.h"
#include "runtime/error.h"
#include "runtime/launch.h"

#include <cstdint>
#include <string>

namespace kg::attention {

constexpr int kTileKeys = 64;
// Blocks of 16 queries per warp: as many as fit the registers for a thread's sums.
constexpr int row_blocks(int depth) { return depth <= 128 ? 2 : 1; }
constexpr int threads(int depth) { return kTileQueries / (row_blocks(depth) * kWarpRows) * 32; }

// The minimum number of resident blocks per multiprocessor, for __launch_bounds__.
constexpr int least_blocks(int depth) { return depth <= 128 ? 4 : 2; }

// kDepth, kValueDepth: the head dimensions, rounded up as in flash_depths.h.
template <class T, int kDepth, int kValueDepth>
__global__ void __launch_bounds__(threads(kDepth), least_blocks(kDepth)) flash(Arguments<T> a) {
  constexpr int kBlocks = row_blocks(kDepth), kThreads = threads(kDepth);
  using TileQ = TokenTile<T, kTileQueries, kDepth, kThreads>;
  using TileK = TokenTile<T, kTileKeys, kDepth, kThreads>;
  using TileV = TokenTile<T, kTileKeys, kValueDepth, kThreads>;
  static_assert(kValueDepth <= kDepth, "results take the place of Q");
  constexpr bool kHoldsQ = kDepth <= 64;
  constexpr int kSteps = kDepth / 16; // of mma along the depth
  constexpr int kScores = kTileKeys / 8;
  constexpr int kValues = kValueDepth / 8;

  const Problem<T>& p = a.problem;
  const auto number = static_cast<int>(blockIdx.x / static_cast<unsigned>(a.tiles));
  const Head<T> head(p, number);
  const int first_query =
      (a.tiles - 1 - static_cast<int>(blockIdx.x % static_cast<unsigned>(a.tiles))) * kTileQueries;
  if (first_query >= head.queries) return; // a sequence shorter than the longest
  const int queries =
      head.queries - first_query < kTileQueries ? head.queries - first_query : kTileQueries;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp_row = static_cast<int>(threadIdx.x / 32) * kBlocks * kWarpRows;
  const auto depth = static_cast<int>(p.depth), value_depth = static_cast<int>(p.value_depth);

  T* const tile_q = dynamic_shared<T>();
  T* const tile_k = tile_q + TileQ::kElements;
  T* const tile_v = tile_k + TileK::kElements;
  const T* const own_q = tile_q + warp_row * kDepth;
  const int lane_q = TileQ::of_rows(), lane_k = TileK::of_columns(), lane_v = TileV::of_rows();
  const int first_key = head.visible(p, first_query).first / kTileKeys * kTileKeys;
  const int end_key = head.visible(p, first_query + queries - 1).end;
  const auto fetch_k = [&](int key) __attribute__((always_inline)) {
    TileK::fetch(head.k + key * p.k_stride.token, p.k_stride.token, end_key - key, depth, a.vector,
                 tile_k);
  };
  TileQ::fetch(head.q + first_query * p.q_stride.token, p.q_stride.token, queries, depth, a.vector,
               tile_q);
  if (first_key < end_key) fetch_k(first_key);
  ptx::cp_async_commit();

  // Lane 4 r + c: columns 2 c and 2 c + 1 of each 8, in rows r and r + 8 of the warp.
  const int row = warp_row + lane / 4, column = lane % 4 * 2;
  const int clear_end = head.visible(p, first_query).end; // no query of the block ends earlier
  const float by = a.score_unit() * kLog2E;
  RunningRow running[kBlocks][2];
  float out[kBlocks][kValues][4] = {};
  const auto load_q = [&](int step, unsigned(&q)[kBlocks][4]) __attribute__((always_inline)) {
    KG_UNROLL_UNIFORM
    for (int block = 0; block < kBlocks; ++block)
      ptx::ldmatrix(q[block], TileQ::at(own_q, lane_q, block * kWarpRows, 2 * step));
  };
  unsigned held_q[kHoldsQ ? kSteps : 1][kBlocks][4];
  for (int key = first_key; key < end_key; key += kTileKeys) {
    ptx::cp_async_wait_all();
    __syncthreads(); // K has arrived; all warps are done with the previous tile of V
    TileV::fetch(head.v + key * p.v_stride.token, p.v_stride.token, end_key - key, value_depth,
                 a.vector, tile_v);
    ptx::cp_async_commit();
    if constexpr (kHoldsQ)
      if (key == first_key) {
        KG_UNROLL_UNIFORM
        for (int step = 0; step < kSteps; ++step) load_q(step, held_q[step]);
      }

    float score[kBlocks][kScores][4] = {};
    KG_UNROLL_UNIFORM
    for (int step = 0; step < kSteps; ++step) {
      if constexpr (!kHoldsQ) load_q(step, held_q[0]);
      add_step<TileK>(held_q[kHoldsQ ? step : 0], tile_k, lane_k, step, score);
    }
    const bool on_edge = p.window != 0 || key + kTileKeys > clear_end;
    KG_UNROLL_UNIFORM
    for (int block = 0; block < kBlocks; ++block) {
      ptx::RawWords<unsigned, 1> own{{static_cast<unsigned>(row + block * kWarpRows)}};
      ptx::keep_raw(own); // keeps derived values from being hoisted into registers
      const auto first = static_cast<int>(own.word[0]);
      if (head.bias != nullptr)
        add_bias(head.bias + (first_query + first) * p.bias_stride.token + key + column,
                 p.bias_stride.token, 1, queries - first, end_key - key - column, p.scale,
                 score[block]);
      if (on_edge) {
        const Visible visible[2] = {head.visible(p, first_query + first),
                                    head.visible(p, first_query + first + 8)};
        hide(visible, key, column, score[block]);
      }
      float factor[2];
      raise_rows(score[block], by, running[block], factor);
      rescale(out[block], factor);
      weigh(score[block], by, running[block]);
    }

    ptx::cp_async_wait_all();
    __syncthreads(); // V has arrived; all warps are done with this tile of K
    if (key + kTileKeys < end_key) fetch_k(key + kTileKeys);
    ptx::cp_async_commit();
    add_weighted<TileV>(score, tile_v, lane_v, 0, out);
  }
  ptx::cp_async_wait_all(); // for Q, if no key is visible

  // Results replace the warp's own rows of Q in shared memory, and are stored in whole chunks.
  __syncthreads();
  const Head<T> to(p, number); // recomputed: live through the loop, it would take registers
  KG_UNROLL_UNIFORM
  for (int block = 0; block < kBlocks; ++block) {
    float normalizer[2];
    KG_UNROLL_UNIFORM
    for (int half = 0; half < 2; ++half) {
      RunningRow& own = running[block][half];
      own.sum = row_sum(own.sum);
      normalizer[half] = own.normalizer();
      const int r = row + block * kWarpRows + 8 * half;
      if (to.log_sum != nullptr && lane % 4 == 0 && r < queries)
        to.log_sum[first_query + r] = own.log_sum(a.score_unit());
    }
    const int first = warp_row + block * kWarpRows;
    put_rows<TileQ>(out[block], normalizer[0], normalizer[1], first, 0, tile_q);
    __syncwarp();
    store_rows<TileQ, kValues>(tile_q, first, 0, to.out + first_query * p.out_stride.token,
                               p.out_stride.token, queries, value_depth, a.vector);
  }
}

namespace {

template <int kDepth, int kValueDepth>
constexpr std::size_t shared_bytes() {
  return ((kTileQueries + kTileKeys) * kDepth + kTileKeys * kValueDepth) * sizeof(f16);
}

} // namespace

std::size_t flash_shared_bytes(std::int64_t depth, std::int64_t value_depth) {
  return with_flash_depths(depth, value_depth, [&]<int kDepth, int kValueDepth>() {
    return shared_bytes<kDepth, kValueDepth>();
  });
}

template <class T>
void run_flash(const Arguments<T>& a, Stream& stream) {
  const Problem<T>& p = a.problem;
  with_flash_depths(p.depth, p.value_depth, [&]<int kDepth, int kValueDepth>() {
    launch(flash<T, kDepth, kValueDepth>,
           {.grid = tile_blocks(a.tiles, p.batch * p.heads),
            .block = threads(kDepth),
            .shared_bytes = shared_bytes<kDepth, kValueDepth>(),
            .stream = &stream},
           a);
  });
}

template void run_flash(const Arguments<f16>&, Stream&);
template void run_flash(const Arguments<bf16>&, Stream&);

} // namespace kg::attention
