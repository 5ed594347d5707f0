// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward, variant flash (Dao, "FlashAttention-2", arXiv 2307.08691): three kernels.
// row_sums makes delta. In flash_keys a block has 64 keys of one head of K and V and walks through
// the queries that see any of them, head by head of the group, with dK and dV in registers; in
// flash_queries it has 64 queries and walks through the keys that they see, with dQ in registers.
// Both do the same with their own tokens and those that they meet, 64 or 32 at a time: a warp has
// 16 of its own and computes their scores and the gradients by their weights, by keys or by
// queries, so that P and dS, packed in pairs, are the operands of the products behind. The next
// tokens are under way meanwhile; one barrier for each step.
//
// Why not one kernel, which would compute scores once instead of twice: dQ or dK would be the sum
// of what many blocks have, by atomics in no fixed order, or through memory as large as a tile for
// each pair of tiles. Two products of seven are the price of the same bits every time. Why not
// warps that share rows of P in shared memory, each with some columns of dK: less would be read
// there, but P and dS would pass through it with a barrier more.
//
// Beyond a depth of 128 dK and dV of 16 keys are more than a thread's registers: two warps have
// half of the columns each, and both compute the scores.
//
// Bytes: every tensor once from memory; Q and dout once more from L2 for each other tile of 64
// keys, K and V for each other tile of 64 queries. Flops: 2 (4 depth + 3 value_depth) per visible
// pair, rounded up to tiles. Expected share on an H200, not measured: 40 % of mma.sync's peak at a
// depth of 128 and sequences of 4096, counted as five products, limited by what 16 rows for each
// warp read from shared memory.
//
// Tiles of queries are handed out from the last to the first, tiles of keys from the first to the
// last: with a causal mask those have most to do.
#include "attention/flash_depths.h"
#include "attention/token_tile.h"
#include "attention/warp_rows.h"
#include "attention_backward/row_sums.h"
#include "attention_backward/variants.h"
#include "ptx/cp_async.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstdint>

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
  static constexpr int kStep = kDepth <= 96 ? 64 : 32; // tokens that a block meets at a time
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

template <class T, int kDepth, int kValueDepth>
__global__ void __launch_bounds__(KeyForm<T, kDepth, kValueDepth>::kThreads,
                                  KeyForm<T, kDepth, kValueDepth>::kLeastBlocks)
    flash_keys(Arguments<T> a) {
  using F = KeyForm<T, kDepth, kValueDepth>;
  const Problem<T>& p = a.problem;
  const attention::Problem<T>& f = p.forward;
  const auto tiles = static_cast<unsigned>((f.keys + kTile - 1) / kTile);
  const auto group = static_cast<int>(f.heads / f.kv_heads);
  const int number = static_cast<int>(blockIdx.x / tiles) * group; // of the group's first head
  const Head<T> head(p, number);
  const int first_key = static_cast<int>(blockIdx.x % tiles) * kTile;
  const int rows = head.key_tokens.count - first_key;
  if (rows <= 0) return; // of a sequence that is shorter than others
  const int keys = head.keys - first_key;
  const int first_query = head.seen_by(f, first_key).first;
  const int end_query =
      keys <= 0 ? 0 : head.seen_by(f, first_key + (keys < kTile ? keys : kTile) - 1).end;
  const int of_head =
      end_query <= first_query ? 0 : (end_query - first_query + F::kStep - 1) / F::kStep;
  const int steps = of_head * group;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp % kWarps * kWarpRows, half_of_columns = warp / kWarps;
  const auto depth = static_cast<int>(f.depth), value_depth = static_cast<int>(f.value_depth);

  T* const tile_k = dynamic_shared<T>();
  T* const tile_v = tile_k + F::OwnWide::kElements;
  T* const stages = tile_v + F::OwnValue::kElements;
  const auto query_of = [&](int step) __attribute__((always_inline)) {
    return first_query + step % of_head * F::kStep;
  };
  const auto fetch = [&](int step) __attribute__((always_inline)) {
    T* const stage = stages + step % 2 * F::kStage;
    const int of_group = step / of_head, query = query_of(step), count = end_query - query;
    F::Wide::fetch(head.q + of_group * f.q_stride.head + query * f.q_stride.token, f.q_stride.token,
                   count, depth, a.vector, stage);
    F::Value::fetch(head.dout + of_group * p.dout_stride.head + query * p.dout_stride.token,
                    p.dout_stride.token, count, value_depth, a.vector, stage + F::Wide::kElements);
    const auto own = static_cast<int>(threadIdx.x);
    if (own < F::kStep) {
      const bool exists = own < count;
      const std::int64_t row = (number + of_group) * f.queries + query + own;
      ptx::cp_async_ca<sizeof(Row)>(
          reinterpret_cast<Row*>(stage + F::Wide::kElements + F::Value::kElements) + own,
          p.workspace + (exists ? 2 * row : 0), exists ? sizeof(Row) : 0);
    }
  };
  F::OwnWide::fetch(head.k + first_key * f.k_stride.token, f.k_stride.token, keys, depth, a.vector,
                    tile_k);
  F::OwnValue::fetch(head.v + first_key * f.v_stride.token, f.v_stride.token, keys, value_depth,
                     a.vector, tile_v);
  if (steps > 0) fetch(0);
  ptx::cp_async_commit();

  // A lane has keys r and r + 8 of the warp, and queries 2 c and 2 c + 1 of each 8.
  const int key = first_key + warp_row + lane / 4, column = lane % 4 * 2;
  const Visible seen[2] = {head.seen_by(f, key), head.seen_by(f, key + 8)};
  const float by = a.score_unit() * kLog2E;
  float dk[F::kSums][4] = {}, dv[F::kValueSums][4] = {};
  for (int step = 0; step < steps; ++step) {
    ptx::cp_async_wait_all();
    __syncthreads(); // these queries have come, and nobody needs those before them
    if (step + 1 < steps) fetch(step + 1);
    ptx::cp_async_commit();
    const T* const tile_q = stages + step % 2 * F::kStage;
    const T* const tile_dout = tile_q + F::Wide::kElements;
    const auto* const sums = reinterpret_cast<const Row*>(tile_dout + F::Value::kElements);
    const int query = query_of(step);

    float score[F::kScores][4] = {}, gradient[F::kScores][4] = {};
    add_rows<typename F::OwnWide, typename F::Wide>(
        tile_k + warp_row * kDepth, F::OwnWide::of_rows(), tile_q, F::Wide::of_columns(), score);
    add_rows<typename F::OwnValue, typename F::Value>(tile_v + warp_row * kValueDepth,
                                                      F::OwnValue::of_rows(), tile_dout,
                                                      F::Value::of_columns(), gradient);
    if (head.bias != nullptr)
      attention::add_bias(head.bias + step / of_head * f.bias_stride.head +
                              (query + column) * f.bias_stride.token + key,
                          1, f.bias_stride.token, head.keys - key, end_query - query - column,
                          f.scale, score);
    attention::hide(seen, query, column, score);
    KG_UNROLL
    for (int j = 0; j < F::kScores; ++j) {
      const auto both = *reinterpret_cast<const Pack<Row, 2>*>(sums + column + 8 * j);
      KG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const Row& row = both.element[i % 2];
        score[j][i] = row.weight(score[j][i], by);
        gradient[j][i] = row.gradient(score[j][i], gradient[j][i]);
      }
    }
    add_weighted<typename F::Value>(score, tile_dout, F::Value::of_rows(),
                                    half_of_columns * F::kValueSums, dv);
    add_weighted<typename F::Wide>(gradient, tile_q, F::Wide::of_rows(), half_of_columns * F::kSums,
                                   dk);
  }
  ptx::cp_async_wait_all(); // of K and V, where no query sees them

  // K and V make room for their gradients, which leave in whole chunks.
  __syncthreads();
  put_rows<typename F::OwnWide>(dk, f.scale, f.scale, warp_row, half_of_columns * F::kSums, tile_k);
  put_rows<typename F::OwnValue>(dv, 1, 1, warp_row, half_of_columns * F::kValueSums, tile_v);
  __syncwarp();
  store_rows<typename F::OwnWide, F::kSums>(tile_k, warp_row, half_of_columns * F::kSums,
                                            head.dk + first_key * p.dk_stride.token,
                                            p.dk_stride.token, rows, depth, a.vector);
  store_rows<typename F::OwnValue, F::kValueSums>(tile_v, warp_row, half_of_columns * F::kValueSums,
                                                  head.dv + first_key * p.dv_stride.token,
                                                  p.dv_stride.token, rows, value_depth, a.vector);
}

template <class T, int kDepth, int kValueDepth>
__global__ void __launch_bounds__(QueryForm<T, kDepth, kValueDepth>::kThreads,
                                  QueryForm<T, kDepth, kValueDepth>::kLeastBlocks)
    flash_queries(Arguments<T> a) {
  using F = QueryForm<T, kDepth, kValueDepth>;
  const Problem<T>& p = a.problem;
  const attention::Problem<T>& f = p.forward;
  const auto tiles = static_cast<unsigned>((f.queries + kTile - 1) / kTile);
  const int number = static_cast<int>(blockIdx.x / tiles);
  const Head<T> head(p, number);
  const int first_query = static_cast<int>(tiles - 1 - blockIdx.x % tiles) * kTile;
  const int rows = head.queries - first_query;
  if (rows <= 0) return; // of a sequence that is shorter than others
  const int first_key = head.visible(f, first_query).first;
  const int end_key = head.visible(f, first_query + (rows < kTile ? rows : kTile) - 1).end;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * kWarpRows;
  const auto depth = static_cast<int>(f.depth), value_depth = static_cast<int>(f.value_depth);

  T* const tile_q = dynamic_shared<T>();
  T* const tile_dout = tile_q + F::OwnWide::kElements;
  T* const stages = tile_dout + F::OwnValue::kElements;
  const auto fetch = [&](int key, int number) __attribute__((always_inline)) {
    T* const stage = stages + number * F::kStage;
    F::Wide::fetch(head.k + key * f.k_stride.token, f.k_stride.token, end_key - key, depth,
                   a.vector, stage);
    F::Value::fetch(head.v + key * f.v_stride.token, f.v_stride.token, end_key - key, value_depth,
                    a.vector, stage + F::Wide::kElements);
  };
  F::OwnWide::fetch(head.q + first_query * f.q_stride.token, f.q_stride.token, rows, depth,
                    a.vector, tile_q);
  F::OwnValue::fetch(head.dout + first_query * p.dout_stride.token, p.dout_stride.token, rows,
                     value_depth, a.vector, tile_dout);
  if (first_key < end_key) fetch(first_key, 0);
  ptx::cp_async_commit();

  // A lane has queries r and r + 8 of the warp, and keys 2 c and 2 c + 1 of each 8.
  const int own = warp_row + lane / 4, column = lane % 4 * 2;
  const Visible visible[2] = {head.visible(f, first_query + own),
                              head.visible(f, first_query + own + 8)};
  const float by = a.score_unit() * kLog2E;
  Row row[2];
  KG_UNROLL
  for (int half = 0; half < 2; ++half) {
    const std::int64_t at = number * f.queries + first_query + own + 8 * half;
    row[half] =
        own + 8 * half < rows ? reinterpret_cast<const Row*>(p.workspace)[at] : Row{INFINITY, 0};
  }
  float dq[F::kSums][4] = {};
  for (int key = first_key, stage = 0; key < end_key; key += F::kStep, stage ^= 1) {
    ptx::cp_async_wait_all();
    __syncthreads(); // these keys have come, and nobody needs those before them
    if (key + F::kStep < end_key) fetch(key + F::kStep, stage ^ 1);
    ptx::cp_async_commit();
    const T* const tile_k = stages + stage * F::kStage;
    const T* const tile_v = tile_k + F::Wide::kElements;

    float score[F::kScores][4] = {}, gradient[F::kScores][4] = {};
    add_rows<typename F::OwnWide, typename F::Wide>(
        tile_q + warp_row * kDepth, F::OwnWide::of_rows(), tile_k, F::Wide::of_columns(), score);
    add_rows<typename F::OwnValue, typename F::Value>(tile_dout + warp_row * kValueDepth,
                                                      F::OwnValue::of_rows(), tile_v,
                                                      F::Value::of_columns(), gradient);
    if (head.bias != nullptr)
      attention::add_bias(head.bias + (first_query + own) * f.bias_stride.token + key + column,
                          f.bias_stride.token, 1, rows - own, end_key - key - column, f.scale,
                          score);
    attention::hide(visible, key, column, score);
    KG_UNROLL
    for (int j = 0; j < F::kScores; ++j) {
      KG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float weight = row[i / 2].weight(score[j][i], by);
        gradient[j][i] = row[i / 2].gradient(weight, gradient[j][i]);
      }
    }
    add_weighted<typename F::Wide>(gradient, tile_k, F::Wide::of_rows(), 0, dq);
  }
  ptx::cp_async_wait_all(); // of Q and dout, where no key is seen

  // Q makes room for its gradient, which leaves in whole chunks.
  __syncthreads();
  put_rows<typename F::OwnWide>(dq, f.scale, f.scale, warp_row, 0, tile_q);
  __syncwarp();
  store_rows<typename F::OwnWide, F::kSums>(tile_q, warp_row, 0,
                                            head.dq + first_query * p.dq_stride.token,
                                            p.dq_stride.token, rows, depth, a.vector);
}

std::size_t flash_shared_bytes(std::int64_t depth, std::int64_t value_depth) {
  return attention::with_flash_depths(depth, value_depth, [&]<int kDepth, int kValueDepth>() {
    return KeyForm<f16, kDepth, kValueDepth>::kSharedBytes; // as the other one's
  });
}

template <class T>
void run_flash(const Arguments<T>& a, Stream& stream) {
  const attention::Problem<T>& f = a.problem.forward;
  const std::int64_t rows = f.batch * f.heads * f.queries;
  const std::int64_t queries = f.batch * f.heads * div_up(f.queries, kTile);
  const std::int64_t keys = f.batch * f.kv_heads * div_up(f.keys, kTile);
  const auto grid = [](std::int64_t blocks, const char* what) {
    return grid_x(blocks, what, "split the batch");
  };
  if (rows > 0)
    launch(a.vector ? row_sums<T, true> : row_sums<T, false>,
           {.grid = grid(div_up(rows, kRowsPerBlock), "attention_backward: the queries"),
            .block = kRowLanes * kRowsPerBlock,
            .stream = &stream},
           a);
  attention::with_flash_depths(f.depth, f.value_depth, [&]<int kDepth, int kValueDepth>() {
    using ForKeys = KeyForm<T, kDepth, kValueDepth>;
    using ForQueries = QueryForm<T, kDepth, kValueDepth>;
    if (keys > 0)
      launch(flash_keys<T, kDepth, kValueDepth>,
             {.grid = grid(keys, "attention_backward: the tiles of 64 keys of all heads"),
              .block = ForKeys::kThreads,
              .shared_bytes = ForKeys::kSharedBytes,
              .stream = &stream},
             a);
    if (queries > 0)
      launch(flash_queries<T, kDepth, kValueDepth>,
             {.grid = grid(queries, "attention_backward: the tiles of 64 queries of all heads"),
              .block = ForQueries::kThreads,
              .shared_bytes = ForQueries::kSharedBytes,
              .stream = &stream},
             a);
  });
}

template void run_flash(const Arguments<f16>&, Stream&);
template void run_flash(const Arguments<bf16>&, Stream&);

} // namespace kg::attention_backward
