// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_decode, variant split. A block of four warps processes up to four queries that share a
// head of K and V, over one part of the keys. Each lane reads 8 elements of a row of K or V, so a
// group of lanes covers a row. A warp reads several rows at a time and has several times as many in
// flight. Each group of lanes runs its own softmax over its keys, without barriers. The sums of
// groups and warps are combined at the end, through registers and shared memory. Each part stores
// its sums to memory, and `merge` adds them in order.
//
// Bytes: K and V once from memory, and once more from L2 per four queries of a group beyond the
// first four; the parts' sums are 2 splits / keys of these bytes. Flops: 2 (depth + value_depth)
// per pair, in f32. Of the 252 instructions that an H200 issues per KiB from memory, nvcc 13.0's
// code takes, with four queries, 187 (f16), 195 (bf16) or 98 (f32). A warp has 4 KiB in flight
// while it waits, and none while it computes. In 16 bits, interleaved warps thus keep 36 of 48 KiB
// of a multiprocessor's 12 warps in flight, and copy bandwidth needs 29. Expected on an H200 from
// some thousand keys per sequence on: 85 % of copy bandwidth in 16 bits, since warps may compute at
// the same time, and 90 % in f32.
//
// Why not Tensor Cores: only groups of 8 heads or more would fill a tile of 16 queries, and loads
// are the limit here. Why not one block per sequence and head: a batch of one has 8 heads of keys
// for 132 multiprocessors. Why not fewer parts for short sequences: lengths are on the device, the
// grid is not.
#pragma once

#include "ops/attention/visible.h"
#include "ops/attention_decode/attention_decode.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"

namespace kg::attention_decode {

using attention::kLog2E;
using attention::RunningRow;

inline constexpr int kWarps = 4;
inline constexpr int kThreads = kWarps * kLanes;
inline constexpr int kRows = 4;  // queries per block
inline constexpr int kChunk = 8; // elements per lane
template <class T>
inline constexpr int kKeys = 16 /
                             (2 * static_cast<int>(sizeof(T))); // keys in flight per lane: 64 bytes

template <class T>
struct Arguments {
  Problem<T> problem;
  Pages pages;
  int splits, tiles; // tiles: of kRows queries, per head of K
  int lanes;         // lanes per row: a power of two
  bool vector;       // rows begin and end at multiples of kChunk elements

  __device__ __forceinline__ int keys_of(std::int64_t sequence) const {
    const auto most = static_cast<int>(problem.keys);
    if (problem.key_lengths == nullptr) return most;
    const int length = problem.key_lengths[sequence];
    return length < most ? length : most; // a negative length hides all keys
  }
  __device__ __forceinline__ std::int64_t rows() const {
    return problem.batch * problem.heads * problem.queries;
  }
  // Workspace, per row of out and part of the keys: largest score and sum of exponentials; after
  // all of these, the sums of the values.
  __device__ __forceinline__ float* statistics(std::int64_t row, int split) const {
    return problem.workspace + (row * splits + split) * 2;
  }
  __device__ __forceinline__ float* sums(std::int64_t row, int split) const {
    return problem.workspace + rows() * splits * 2 + (row * splits + split) * problem.value_depth;
  }
};

// Elements [first, first + kChunk) of a row of `length` elements; 0 past its end.
template <class T>
__device__ __forceinline__ StoredPack<T, kChunk> load_chunk(const T* row, int first, int length,
                                                            bool vector) {
  StoredPack<T, kChunk> result;
  if (vector && first < length) {
    result.load(row + first);
  } else {
    Pack<T, kChunk> part;
    KG_UNROLL
    for (int e = 0; e < kChunk; ++e)
      part.element[e] = first + e < length ? row[first + e] : from_float<T>(0.0F);
    result.set(part);
  }
  return result;
}

// Softmax state over some keys, with the weighted sums of some columns of values.
template <int Columns>
struct Part {
  RunningRow row;
  float sum[Columns] = {};

  // Merges another part with the same columns.
  __device__ __forceinline__ void add(const Part& other, float by) {
    const float own = row.raise(other.row.largest, by); // also rescales row.sum
    const float factor = exp2f(other.row.largest * by - row.reference(by));
    row.sum = fmaf(other.row.sum, factor, row.sum);
    KG_UNROLL
    for (int e = 0; e < Columns; ++e) sum[e] = fmaf(other.sum[e], factor, sum[e] * own);
  }
};

// Results that the warps of a block exchange.
struct Shared {
  float largest[kWarps][kRows], sum[kWarps][kRows];
  Pack<float, kChunk / 2> values[kWarps][kRows][2 * kMostDepth / kChunk];
};

template <class T>
__global__ void __launch_bounds__(kThreads) split(Arguments<T> a) {
  __shared__ Shared shared;
  const Problem<T>& p = a.problem;
  const int tile = static_cast<int>(blockIdx.x) % a.tiles;
  int number = static_cast<int>(blockIdx.x) / a.tiles;
  const int part = number % a.splits;
  number /= a.splits;
  const auto kv_heads = static_cast<int>(p.kv_heads), queries = static_cast<int>(p.queries);
  const int kv_head = number % kv_heads, sequence = number / kv_heads;
  const int group = static_cast<int>(p.heads) / kv_heads;
  const int depth = static_cast<int>(p.depth), value_depth = static_cast<int>(p.value_depth);

  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int first = lane % a.lanes * kChunk; // element of a row
  const int own = lane / a.lanes;            // number among the rows read at a time
  const int at_a_time = kLanes / a.lanes;
  const int step = kWarps * kKeys<T> * at_a_time; // keys per block

  const int keys = a.keys_of(sequence);
  const int per_part = ((keys + a.splits - 1) / a.splits + step - 1) / step * step;
  const int begin = part * per_part;
  const int end = begin + per_part < keys ? begin + per_part : keys;

  float q[kRows][kChunk];
  int visible[kRows]; // ends of the visible keys
  Part<kChunk> row[kRows];
  const float by = p.scale * kLog2E;
  KG_UNROLL
  for (int g = 0; g < kRows; ++g) {
    const int r = tile * kRows + g; // of the group's
    const int query = r % queries;
    const bool exists = r < group * queries;
    visible[g] = exists ? keys - queries + query + 1 : 0;
    const T* const from = p.q + sequence * p.q_stride.sequence +
                          (kv_head * group + r / queries) * p.q_stride.head +
                          query * p.q_stride.token;
    const Floats<kChunk> values = widened(load_chunk(from, first, exists ? depth : 0, a.vector));
    KG_UNROLL
    for (int e = 0; e < kChunk; ++e) q[g][e] = values.value[e];
  }

  for (int base = begin + warp * kKeys<T> * at_a_time; base < end; base += step) {
    StoredPack<T, kChunk> k[kKeys<T>], v[kKeys<T>];
    KG_UNROLL
    for (int i = 0; i < kKeys<T>; ++i) {
      const int key = base + i * at_a_time + own;
      const bool exists = key < end;
      const Pages::Place place = a.pages.place(sequence, exists ? key : begin);
      k[i] = load_chunk(p.k + place.row(p.k_stride, kv_head), first, exists ? depth : 0, a.vector);
      v[i] = load_chunk(p.v + place.row(p.v_stride, kv_head), first, exists ? value_depth : 0,
                        a.vector);
    }
    loaded(k);
    loaded(v);

    float score[kRows][kKeys<T>] = {};
    KG_UNROLL
    for (int i = 0; i < kKeys<T>; ++i) {
      const Floats<kChunk> values = widened(k[i]);
      KG_UNROLL
      for (int g = 0; g < kRows; ++g) {
        KG_UNROLL
        for (int e = 0; e < kChunk; ++e) score[g][i] = fmaf(q[g][e], values.value[e], score[g][i]);
      }
    }
    KG_ROLLED
    for (int apart = a.lanes / 2; apart > 0; apart /= 2) {
      KG_UNROLL
      for (int g = 0; g < kRows; ++g) {
        KG_UNROLL
        for (int i = 0; i < kKeys<T>; ++i)
          score[g][i] += __shfl_xor_sync(kAllLanes, score[g][i], apart);
      }
    }
    KG_UNROLL
    for (int g = 0; g < kRows; ++g) {
      float largest = -INFINITY;
      KG_UNROLL
      for (int i = 0; i < kKeys<T>; ++i) {
        const int key = base + i * at_a_time + own;
        if (key >= end || key >= visible[g]) score[g][i] = -INFINITY;
        largest = fmaxf(largest, score[g][i]); // fmaxf ignores NaN; the sum propagates it
      }
      const float factor = row[g].row.raise(largest, by);
      const float reference = row[g].row.reference(by);
      KG_UNROLL
      for (int e = 0; e < kChunk; ++e) row[g].sum[e] *= factor;
      KG_UNROLL
      for (int i = 0; i < kKeys<T>; ++i) {
        score[g][i] = exp2f(fmaf(score[g][i], by, -reference));
        row[g].row.sum += score[g][i];
      }
    }
    KG_UNROLL
    for (int i = 0; i < kKeys<T>; ++i) {
      const Floats<kChunk> values = widened(v[i]);
      KG_UNROLL
      for (int g = 0; g < kRows; ++g) {
        KG_UNROLL
        for (int e = 0; e < kChunk; ++e)
          row[g].sum[e] = fmaf(score[g][i], values.value[e], row[g].sum[e]);
      }
    }
  }

  KG_UNROLL
  for (int g = 0; g < kRows; ++g) {
    KG_ROLLED
    for (int apart = a.lanes; apart < kLanes; apart *= 2) {
      Part<kChunk> other;
      other.row.largest = __shfl_xor_sync(kAllLanes, row[g].row.largest, apart);
      other.row.sum = __shfl_xor_sync(kAllLanes, row[g].row.sum, apart);
      KG_UNROLL
      for (int e = 0; e < kChunk; ++e)
        other.sum[e] = __shfl_xor_sync(kAllLanes, row[g].sum[e], apart);
      row[g].add(other, by);
    }
    if (own != 0) continue;
    if (lane == 0) {
      shared.largest[warp][g] = row[g].row.largest;
      shared.sum[warp][g] = row[g].row.sum;
    }
    KG_UNROLL
    for (int half = 0; half < 2; ++half) {
      Pack<float, kChunk / 2> values;
      KG_UNROLL
      for (int e = 0; e < kChunk / 2; ++e) values.element[e] = row[g].sum[half * (kChunk / 2) + e];
      shared.values[warp][g][2 * lane + half] = values;
    }
  }
  __syncthreads();

  for (int g = 0; g < kRows && tile * kRows + g < group * queries; ++g) {
    const int r = tile * kRows + g;
    const int head = kv_head * group + r / queries, query = r % queries;
    const std::int64_t out_row = (sequence * p.heads + head) * p.queries + query;
    for (int column = static_cast<int>(threadIdx.x); column < value_depth; column += kThreads) {
      Part<1> total;
      KG_UNROLL
      for (int w = 0; w < kWarps; ++w) {
        Part<1> of_warp;
        of_warp.row = {shared.largest[w][g], shared.sum[w][g]};
        of_warp.sum[0] = shared.values[w][g][column / (kChunk / 2)].element[column % (kChunk / 2)];
        total.add(of_warp, by);
      }
      if (a.splits == 1) {
        p.out[sequence * p.out_stride.sequence + head * p.out_stride.head +
              query * p.out_stride.token + column] =
            from_float<T>(total.sum[0] * total.row.normalizer());
        continue;
      }
      a.sums(out_row, part)[column] = total.sum[0];
      if (column > 0) continue;
      a.statistics(out_row, part)[0] = total.row.largest;
      a.statistics(out_row, part)[1] = total.row.sum;
    }
  }
}

// One block per row of out.
template <class T>
__global__ void __launch_bounds__(kThreads) merge(Arguments<T> a) {
  const Problem<T>& p = a.problem;
  const auto row = static_cast<int>(blockIdx.x);
  const auto queries = static_cast<int>(p.queries), heads = static_cast<int>(p.heads);
  const int query = row % queries, head = row / queries % heads, sequence = row / queries / heads;
  const float by = p.scale * kLog2E;
  T* const out = p.out + sequence * p.out_stride.sequence + head * p.out_stride.head +
                 query * p.out_stride.token;
  for (std::int64_t column = threadIdx.x; column < p.value_depth; column += kThreads) {
    Part<1> total;
    for (int part = 0; part < a.splits; ++part) {
      const auto statistics = *reinterpret_cast<const Pack<float, 2>*>(a.statistics(row, part));
      Part<1> next;
      next.row = {statistics.element[0], statistics.element[1]};
      next.sum[0] = a.sums(row, part)[column];
      total.add(next, by);
    }
    out[column] = from_float<T>(total.sum[0] * total.row.normalizer());
  }
}

} // namespace kg::attention_decode
