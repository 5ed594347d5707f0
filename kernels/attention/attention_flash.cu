// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention, variant flash (Dao, "FlashAttention-2", arXiv 2307.08691): a block of four warps has
// 64 queries of one head, 16 for each warp, and walks once through the keys that any of them sees,
// 64 at a time. Scores, weights and sums stay in registers: the sums of mma's first product are,
// packed in pairs, the operand of its second.
//
// While scores are computed from a tile of K, that of V is under way, and the next tile of K while
// the values are added; so one buffer of each is enough, with a barrier before each product. Q
// stays in registers up to a depth of 128; beyond, its fragments are read again for each tile.
//
// Bytes: Q, K, V and out once from memory; K and V once more from L2 for each other tile of 64
// queries. Flops: 2 (depth + value_depth) per visible pair, rounded up to tiles of 64 x 64 and
// depths of 64, 96, 128, 192 or 256. What keeps it from mma.sync's peak are the exponentials
// between the products, and that a multiprocessor has 8 warps, 12 at a depth of 64. Why not warps
// that share a row of scores: their sums would have to meet in shared memory. Why not wgmma, which
// has twice mma.sync's peak on a Hopper: one kernel for all from 7.5 on comes first.
//
// Tiles of queries are handed out from the last to the first: with a causal mask the last ones have
// most to do, and no block should start late with a long tile.
#include "attention/flash_depths.h"
#include "attention/token_tile.h"
#include "attention/variants.h"
#include "attention/visible.h"
#include "attention/warp_rows.h"
#include "ptx/cp_async.h"
#include "runtime/error.h"
#include "runtime/launch.h"

#include <cstdint>
#include <string>

namespace kg::attention {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * 32;
constexpr int kTileKeys = 64;
static_assert(kWarps * kWarpRows == kTileQueries);

// The largest or the sum of a row that four neighbouring lanes share.
__device__ __forceinline__ float row_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}
__device__ __forceinline__ float row_sum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

// Blocks per multiprocessor that the registers must leave room for. At a depth of 64 ptxas keeps
// room for three by itself, and needs more registers when it is asked for fewer.
constexpr int least_blocks(int depth) { return depth <= 64 ? 0 : 2; }

// kDepth, kValueDepth: the depths, rounded up to what there is a kernel for.
template <class T, int kDepth, int kValueDepth>
__global__ void __launch_bounds__(kThreads, least_blocks(kDepth)) flash(Arguments<T> a) {
  using TileQ = TokenTile<T, kTileQueries, kDepth, kThreads>;
  using TileK = TokenTile<T, kTileKeys, kDepth, kThreads>;
  using TileV = TokenTile<T, kTileKeys, kValueDepth, kThreads>;
  static_assert(kValueDepth <= kDepth, "results take the place of Q");
  constexpr bool kHoldsQ = kDepth <= 128;
  constexpr int kSteps = kDepth / 16; // of mma along the depth
  constexpr int kScores = kTileKeys / 8;
  constexpr int kValues = kValueDepth / 8;

  const Problem<T>& p = a.problem;
  const Head<T> head(p, static_cast<int>(blockIdx.x / static_cast<unsigned>(a.tiles)));
  const int first_query =
      (a.tiles - 1 - static_cast<int>(blockIdx.x % static_cast<unsigned>(a.tiles))) * kTileQueries;
  if (first_query >= head.queries) return; // of a sequence that is shorter than others
  const int queries =
      head.queries - first_query < kTileQueries ? head.queries - first_query : kTileQueries;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * kWarpRows;
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

  // A lane has columns 2 c and 2 c + 1 of each 8, of rows r and r + 8 of the warp.
  const int row = warp_row + lane / 4, column = lane % 4 * 2;
  const Visible visible[2] = {head.visible(p, first_query + row),
                              head.visible(p, first_query + row + 8)};
  const float by = a.score_unit() * kLog2E;
  RunningRow running[2];
  float out[kValues][4] = {};
  unsigned held_q[kHoldsQ ? kSteps : 1][4];
  for (int key = first_key; key < end_key; key += kTileKeys) {
    ptx::cp_async_wait_all();
    __syncthreads(); // K has come, and nobody needs the tile of V before
    TileV::fetch(head.v + key * p.v_stride.token, p.v_stride.token, end_key - key, value_depth,
                 a.vector, tile_v);
    ptx::cp_async_commit();
    if constexpr (kHoldsQ)
      if (key == first_key) {
        KG_UNROLL_UNIFORM
        for (int step = 0; step < kSteps; ++step)
          ptx::ldmatrix(held_q[step], TileQ::at(own_q, lane_q, 0, 2 * step));
      }

    float score[kScores][4] = {};
    KG_UNROLL_UNIFORM
    for (int step = 0; step < kSteps; ++step) {
      if constexpr (!kHoldsQ) ptx::ldmatrix(held_q[0], TileQ::at(own_q, lane_q, 0, 2 * step));
      add_step<TileK>(held_q[kHoldsQ ? step : 0], tile_k, lane_k, step, score);
    }
    if (head.bias != nullptr)
      add_bias(head.bias + (first_query + row) * p.bias_stride.token + key + column,
               p.bias_stride.token, 1, queries - row, end_key - key - column, p.scale, score);
    hide(visible, key, column, score);

    KG_UNROLL_UNIFORM
    for (int half = 0; half < 2; ++half) {
      float largest = -INFINITY; // fmaxf passes over NaN; the sum does not
      KG_UNROLL_UNIFORM
      for (int j = 0; j < kScores; ++j)
        largest = fmaxf(largest, fmaxf(score[j][2 * half], score[j][2 * half + 1]));
      const float factor = running[half].raise(row_max(largest), by);
      const float reference = running[half].reference(by);
      KG_UNROLL_UNIFORM
      for (int j = 0; j < kScores; ++j) {
        KG_UNROLL_UNIFORM
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          score[j][i] = exp2f(fmaf(score[j][i], by, -reference));
          running[half].sum += score[j][i]; // of the lane's columns; the others' come at the end
        }
      }
      KG_UNROLL_UNIFORM
      for (int j = 0; j < kValues; ++j) {
        out[j][2 * half] *= factor;
        out[j][2 * half + 1] *= factor;
      }
    }

    ptx::cp_async_wait_all();
    __syncthreads(); // V has come, and nobody needs this tile of K any more
    if (key + kTileKeys < end_key) fetch_k(key + kTileKeys);
    ptx::cp_async_commit();
    add_weighted<TileV>(score, tile_v, lane_v, 0, out);
  }
  ptx::cp_async_wait_all(); // of Q, where no key is seen

  // The warp's own rows of Q make room for its results, which leave in whole chunks.
  __syncthreads();
  float normalizer[2];
  KG_UNROLL_UNIFORM
  for (int half = 0; half < 2; ++half) {
    running[half].sum = row_sum(running[half].sum);
    normalizer[half] = running[half].normalizer();
    const int r = row + 8 * half;
    if (head.log_sum != nullptr && lane % 4 == 0 && r < queries)
      head.log_sum[first_query + r] = running[half].log_sum(a.score_unit());
  }
  put_rows<TileQ>(out, normalizer[0], normalizer[1], warp_row, 0, tile_q);
  __syncwarp();
  store_rows<TileQ, kValues>(tile_q, warp_row, 0, head.out + first_query * p.out_stride.token,
                             p.out_stride.token, queries, value_depth, a.vector);
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
            .block = kThreads,
            .shared_bytes = shared_bytes<kDepth, kValueDepth>(),
            .stream = &stream},
           a);
  });
}

template void run_flash(const Arguments<f16>&, Stream&);
template void run_flash(const Arguments<bf16>&, Stream&);

} // namespace kg::attention
