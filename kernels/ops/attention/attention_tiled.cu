// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention, variant tiled: f32 without matrix units. A block of 128 threads has 64 queries of one
// head and walks once through the keys that any of them sees, 64 at a time, with a running maximum
// and sum. Each thread computes 8 x 4 scores by gemm's slices of 16 along the depth, puts its
// weights into shared memory by keys, and adds up 8 rows of 4 columns of each 64 of the values, by
// slices of 16 keys. A block has up to 128 columns of the values; where there are more, other
// blocks compute the scores once more.
//
// Bytes: Q, K, V and out once from memory; Q, K and V once from L2 for each pair of tiles. Flops: 2
// (depth + value_depth) per visible pair, rounded up to tiles of 64 x 64. What keeps
// it from the f32 peak are three shared reads of 16 bytes per 32 multiply-adds, and that a
// multiprocessor has 8 warps (with twice the columns ptxas spills).
// Why not Q in shared memory throughout: at a depth of 256 it alone is 64 KiB; read again with each
// tile of keys it comes from the caches. The weights go to shared memory by columns, four threads
// to a bank: that costs less than reading them so in each of the products behind.
#include "ops/attention/variants.h"
#include "ops/attention/visible.h"
#include "ops/gemm/simt_tile.h"
#include "primitives/pack.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstdint>

namespace kg::attention {

using gemm::slot;

inline constexpr gemm::Tile kScoreTile{
    .m = kTileQueries, .n = 64, .k = 16, .thread_m = 8, .thread_n = 4};
inline constexpr int kColumns = kScoreTile.n; // of keys, and of each group of values

// How slices of 16 along the depth (Q, K) and slices of 16 keys and 64 columns (V) are copied.
// Static members: g++ 12 fails on lambdas that use local constants of class type.
template <bool kVector>
struct Slices {
  static constexpr gemm::Slice kTokens{kScoreTile.m, kScoreTile.k, kScoreTile.threads(), true,
                                       kVector};
  static constexpr gemm::Slice kValues{kScoreTile.n, kScoreTile.k, kScoreTile.threads(), false,
                                       kVector};
};
inline constexpr int kStep = kScoreTile.k;
inline constexpr int kRows = kScoreTile.thread_m;         // of a thread
inline constexpr int kOwnColumns = kScoreTile.thread_n;   // of a thread, of each kColumns
inline constexpr int kPitch = kTileQueries + gemm::kQuad; // floats between keys of the weights

// The largest or the sum of a row that the threads of a tile's row share: 16 neighbouring lanes.
template <class Combine>
__device__ __forceinline__ float over_row(float value, Combine combine) {
  KG_UNROLL
  for (int step = kScoreTile.threads_n() / 2; step > 0; step /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}

// Uses `slices` slices, at least 1, one after another while the next one is on its way from memory:
// fetch(i) into registers, store(i) into buffer i % 2, use(i).
template <class Fetch, class Store, class Use>
__device__ __forceinline__ void each_slice(int slices, const Fetch& fetch, const Store& store,
                                           const Use& use) {
  fetch(0);
  __syncthreads(); // nobody reads the buffers any more
  store(0);
  for (int i = 0; i < slices; ++i) {
    __syncthreads();
    if (i + 1 < slices) fetch(i + 1);
    use(i);
    if (i + 1 < slices) store(i + 1);
  }
}

// kGroups: of 64 columns of the values. kVector: rows of Q, K, V and out are aligned to 16 bytes.
template <int kGroups, bool kVector>
__global__ void __launch_bounds__(kScoreTile.threads(), 2) tiled(Arguments<float> a) {
  using Copy = Slices<kVector>;
  constexpr int kOfKeys = Copy::kTokens.floats(); // where K begins in a buffer
  constexpr int kBuffer = 2 * kOfKeys;
  static_assert(Copy::kTokens.pitch() == kPitch);
  float* const shared = dynamic_shared<float>();
  float* const weights = shared + 2 * kBuffer; // by keys, each kPitch queries

  const Problem<float>& p = a.problem;
  constexpr int kPart = kGroups * kColumns; // columns of the values that a block has
  const auto value_depth = static_cast<int>(p.value_depth);
  const auto parts = static_cast<unsigned>((value_depth + kPart - 1) / kPart);
  const unsigned of_head = blockIdx.x / static_cast<unsigned>(a.tiles);
  const Head<float> head(p, static_cast<int>(of_head / parts));
  const int first_value = static_cast<int>(of_head % parts) * kPart;
  const int first_query =
      (a.tiles - 1 - static_cast<int>(blockIdx.x % static_cast<unsigned>(a.tiles))) * kTileQueries;
  if (first_query >= head.queries) return; // of a sequence that is shorter than others
  const int queries =
      head.queries - first_query < kTileQueries ? head.queries - first_query : kTileQueries;
  const auto thread = static_cast<int>(threadIdx.x);
  const int row = thread / kScoreTile.threads_n() * kRows;
  const int column = thread % kScoreTile.threads_n() * kOwnColumns;
  const auto depth = static_cast<int>(p.depth);

  const int first_key = head.visible(p, first_query).first / kColumns * kColumns;
  const int end_key = head.visible(p, first_query + queries - 1).end;
  const float by = a.score_unit() * kLog2E;
  RunningRow running[kRows];
  float out[kGroups][kRows][kOwnColumns] = {};

  for (int key = first_key; key < end_key; key += kColumns) {
    const int keys = end_key - key < kColumns ? end_key - key : kColumns;
    float score[kRows][kOwnColumns] = {};
    float staged_q[Copy::kTokens.per_thread()], staged_k[Copy::kTokens.per_thread()];
    each_slice((depth + kStep - 1) / kStep,
               [&](int i) __attribute__((always_inline)) {
                 const int steps = depth - i * kStep < kStep ? depth - i * kStep : kStep;
                 gemm::fetch<Copy::kTokens>({head.q + first_query * p.q_stride.token + i * kStep,
                                             p.q_stride.token, queries},
                                            steps, thread, staged_q);
                 gemm::fetch<Copy::kTokens>(
                     {head.k + key * p.k_stride.token + i * kStep, p.k_stride.token, keys}, steps,
                     thread, staged_k);
               },
               [&](int i) __attribute__((always_inline)) {
                 gemm::store<Copy::kTokens>(staged_q, thread, shared + i % 2 * kBuffer);
                 gemm::store<Copy::kTokens>(staged_k, thread, shared + i % 2 * kBuffer + kOfKeys);
               },
               [&](int i) __attribute__((always_inline)) {
                 const float* const buffer = shared + i % 2 * kBuffer;
                 gemm::multiply<kScoreTile, Copy::kTokens, Copy::kTokens>(
                     buffer + slot(row), buffer + kOfKeys + slot(column), score);
               });

    if (head.bias != nullptr) {
      const float* bias = head.bias + (first_query + row) * p.bias_stride.token + key + column;
      KG_UNROLL
      for (int i = 0; i < kRows; ++i, bias += p.bias_stride.token) {
        KG_UNROLL
        for (int j = 0; j < kOwnColumns; ++j)
          if (row + i < queries && column + j < keys)
            score[i][j] = fmaf(score[i][j], p.scale, bias[j]);
      }
    }
    KG_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const Visible visible = head.visible(p, first_query + row + i);
      float largest = -INFINITY; // fmaxf passes over NaN; the sum does not
      KG_UNROLL
      for (int j = 0; j < kOwnColumns; ++j) {
        const int at = key + column + j;
        if (at < visible.first || at >= visible.end) score[i][j] = -INFINITY;
        largest = fmaxf(largest, score[i][j]);
      }
      largest = over_row(largest, [](float x, float y) { return fmaxf(x, y); });
      const float factor = running[i].raise(largest, by);
      const float reference = running[i].reference(by);
      KG_UNROLL
      for (int j = 0; j < kOwnColumns; ++j) {
        score[i][j] = exp2f(fmaf(score[i][j], by, -reference));
        running[i].sum += score[i][j]; // of the thread's columns; the others' come at the end
      }
      KG_UNROLL
      for (int g = 0; g < kGroups; ++g) {
        KG_UNROLL
        for (int j = 0; j < kOwnColumns; ++j) out[g][i][j] *= factor;
      }
    }
    KG_UNROLL
    for (int j = 0; j < kOwnColumns; ++j) {
      float* const to = weights + (column + j) * kPitch + slot(row);
      KG_UNROLL
      for (int i = 0; i < kRows; i += gemm::kQuad) {
        const float4 quad{score[i][j], score[i + 1][j], score[i + 2][j], score[i + 3][j]};
        ptx::store_shared(reinterpret_cast<float4*>(to + i), quad);
      }
    }

    float staged_v[Copy::kValues.per_thread()];
    KG_UNROLL
    for (int g = 0; g < kGroups; ++g)
      each_slice((keys + kStep - 1) / kStep,
                 [&](int i) __attribute__((always_inline)) {
                   const int steps = keys - i * kStep < kStep ? keys - i * kStep : kStep;
                   const int column = first_value + g * kColumns;
                   const int columns = value_depth - column;
                   gemm::fetch<Copy::kValues>(
                       {head.v + (key + i * kStep) * p.v_stride.token + column, p.v_stride.token,
                        columns < 0          ? 0
                        : columns < kColumns ? columns
                                             : kColumns},
                       steps, thread, staged_v);
                 },
                 [&](int i) __attribute__((always_inline)) {
                   gemm::store<Copy::kValues>(staged_v, thread, shared + i % 2 * kBuffer);
                 },
                 [&](int i) __attribute__((always_inline)) {
                   gemm::multiply<kScoreTile, Copy::kTokens, Copy::kValues>(
                       weights + i * kStep * kPitch + slot(row),
                       shared + i % 2 * kBuffer + slot(column), out[g]);
                 });
  }

  float* to = head.out + (first_query + row) * p.out_stride.token;
  KG_UNROLL
  for (int i = 0; i < kRows; ++i, to += p.out_stride.token) {
    running[i].sum = over_row(running[i].sum, [](float x, float y) { return x + y; });
    if (row + i >= queries) continue;
    const float normalizer = running[i].normalizer();
    KG_UNROLL
    for (int g = 0; g < kGroups; ++g) {
      const int at = first_value + g * kColumns + column;
      Pack<float, kOwnColumns> values;
      KG_UNROLL
      for (int j = 0; j < kOwnColumns; ++j) values.element[j] = out[g][i][j] * normalizer;
      if (kVector && at < value_depth) { // which is a multiple of 4 then
        store_wide(reinterpret_cast<Pack<float, kOwnColumns>*>(to + at), values);
      } else {
        KG_UNROLL
        for (int j = 0; j < kOwnColumns; ++j)
          if (at + j < value_depth) to[at + j] = values.element[j];
      }
    }
    if (head.log_sum != nullptr && column == 0 && first_value == 0)
      head.log_sum[first_query + row + i] = running[i].log_sum(a.score_unit());
  }
}

namespace {

template <int kGroups>
void launch_tiled(const Arguments<float>& a, Stream& stream) {
  constexpr std::size_t kShared = (4 * kStep * kPitch + kColumns * kPitch) * sizeof(float);
  const std::int64_t parts = div_up(a.problem.value_depth, kGroups * kColumns);
  launch(a.vector ? tiled<kGroups, true> : tiled<kGroups, false>,
         {.grid = tile_blocks(a.tiles, a.problem.batch * a.problem.heads * parts),
          .block = static_cast<unsigned>(kScoreTile.threads()),
          .shared_bytes = kShared,
          .stream = &stream},
         a);
}

} // namespace

void run_tiled(const Arguments<float>& a, Stream& stream) {
  if (a.problem.value_depth <= kColumns) return launch_tiled<1>(a, stream);
  launch_tiled<2>(a, stream);
}

} // namespace kg::attention
