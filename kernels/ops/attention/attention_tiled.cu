// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention, variant tiled: f32 on FMA units. A block of 128 threads processes 64 queries of one
// head. It makes one pass over the keys that any of them sees, in tiles of 64, with online softmax.
// Each thread computes 8 x 4 scores, from slices of 16 along the depth as in gemm. It stores its
// weights to shared memory, indexed by key. Then it accumulates 8 rows x 4 columns of out per 64
// columns of V, from slices of 16 keys. A block covers up to 128 columns of V. Wider values take
// more blocks, each of which recomputes the scores.
//
// Bytes: Q, K, V and out once from memory; Q, K and V once from L2 for each pair of tiles. Flops:
// 2 (depth + value_depth) per unmasked pair, rounded up to tiles of 64 x 64. The limits below the
// f32 peak are three 16-byte shared loads per 32 FMAs, and 8 warps per multiprocessor; with twice
// the columns, ptxas spills.
// Why not Q in shared memory throughout: it takes 64 KiB at a depth of 256. Re-reading Q for each
// tile of keys hits the caches. Weights are stored by columns, with four threads per bank; reading
// them with conflicts in every later product would cost more.
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
inline constexpr int kColumns = kScoreTile.n; // keys per tile, and columns per group of values

// Copies of slices: 16 along the depth (Q, K), and 16 keys x 64 columns (V). Static members, since
// g++ 12 rejects lambdas that use local constants of class type.
template <bool kVector>
struct Slices {
  static constexpr gemm::Slice kTokens{kScoreTile.m, kScoreTile.k, kScoreTile.threads(), true,
                                       kVector};
  static constexpr gemm::Slice kValues{kScoreTile.n, kScoreTile.k, kScoreTile.threads(), false,
                                       kVector};
};
inline constexpr int kStep = kScoreTile.k;
inline constexpr int kRows = kScoreTile.thread_m;         // per thread
inline constexpr int kOwnColumns = kScoreTile.thread_n;   // per thread and kColumns
inline constexpr int kPitch = kTileQueries + gemm::kQuad; // floats between keys of the weights

// Reduces a row's maximum or sum over the 16 neighbouring lanes that share the row.
template <class Combine>
__device__ __forceinline__ float over_row(float value, Combine combine) {
  KG_UNROLL
  for (int step = kScoreTile.threads_n() / 2; step > 0; step /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}

// Double-buffered loop over `slices` slices, at least 1: fetch(i) loads a slice into registers,
// store(i) stores it to buffer i % 2, and use(i) computes while the next slice is in flight.
template <class Fetch, class Store, class Use>
__device__ __forceinline__ void each_slice(int slices, const Fetch& fetch, const Store& store,
                                           const Use& use) {
  fetch(0);
  __syncthreads(); // all threads have finished reading the buffers
  store(0);
  for (int i = 0; i < slices; ++i) {
    __syncthreads();
    if (i + 1 < slices) fetch(i + 1);
    use(i);
    if (i + 1 < slices) store(i + 1);
  }
}

// kGroups: groups of 64 columns of V. kVector: rows of Q, K, V and out are aligned to 16 bytes.
template <int kGroups, bool kVector>
__global__ void __launch_bounds__(kScoreTile.threads(), 2) tiled(Arguments<float> a) {
  using Copy = Slices<kVector>;
  constexpr int kOfKeys = Copy::kTokens.floats(); // offset of K in a buffer
  constexpr int kBuffer = 2 * kOfKeys;
  static_assert(Copy::kTokens.pitch() == kPitch);
  float* const shared = dynamic_shared<float>();
  float* const weights = shared + 2 * kBuffer; // indexed by key, kPitch queries each

  const Problem<float>& p = a.problem;
  constexpr int kPart = kGroups * kColumns; // columns of V per block
  const auto value_depth = static_cast<int>(p.value_depth);
  const auto parts = static_cast<unsigned>((value_depth + kPart - 1) / kPart);
  const unsigned of_head = blockIdx.x / static_cast<unsigned>(a.tiles);
  const Head<float> head(p, static_cast<int>(of_head / parts));
  const int first_value = static_cast<int>(of_head % parts) * kPart;
  const int first_query =
      (a.tiles - 1 - static_cast<int>(blockIdx.x % static_cast<unsigned>(a.tiles))) * kTileQueries;
  if (first_query >= head.queries) return; // a sequence shorter than the longest
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
      float largest = -INFINITY; // fmaxf ignores NaN; the sum propagates it
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
        running[i].sum += score[i][j]; // the thread's columns; reduced over lanes at the end
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
      if (kVector && at < value_depth) { // kVector: value_depth is a multiple of 4
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
