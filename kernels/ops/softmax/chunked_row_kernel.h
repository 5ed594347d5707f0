// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of rows that are too long for persistent_row_kernel.h by blocks that stay, or by clusters
// of blocks that share a row: each takes a row after the other through a ring of pieces in shared
// memory (primitives/chunk_pipeline.h), one read and one write per element. Maximum and sum are
// found in one pass: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
//
// About 15 instructions for each element of 16 bits, of 32 that an H200 issues in its share of a
// copy's time. Expected there: 90 % of a copy's rate where a block has a row, 87 % for clusters of
// two, whose blocks wait for each other, 82 % for larger ones, which leave multiprocessors empty.
// Why not the row read again, as in block_kernels.h: memory waits while a block meets, and what all
// blocks read soon exceeds L2. Why not the row in registers: 128 KiB of 16 bits take all that 1024
// threads have, and nothing beyond.
#pragma once

#include "instructions/cluster.h"
#include "instructions/cluster_store.h"
#include "ops/softmax/row_access.h"
#include "primitives/chunk_pipeline.h"
#include "primitives/unpack_pairs.h"
#include "primitives/warp.h"

#include <cfloat>

namespace kg::softmax {

// A sum of exp(x - reference), the reference its largest x so far, but finite: -inf minus it is
// -inf.
struct RunningSum {
  float reference = -FLT_MAX;
  float sum = 0;

  // Rescaling costs an exponential's error, at most once for these packs. Maxima pass over NaN; the
  // sum does not.
  template <class T, int Count, int Packs>
  __device__ __forceinline__ void add(const StoredPack<T, Count> (&packs)[Packs]) {
    float maximum = reference;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) maximum = greatest(packs[p], maximum);
    if (maximum > reference) {
      sum *= exp_of_sum<T>(reference - maximum);
      reference = maximum;
    }
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      const Floats<Count> values = widened_by_words(packs[p]);
      KG_UNROLL
      for (int e = 0; e < Count; ++e) sum += exp_of_sum<T>(values.value[e] - reference);
    }
  }

  __device__ __forceinline__ void add(const RunningSum& other) {
    const float common = fmaxf(reference, other.reference);
    sum = sum * expf(reference - common) + other.sum * expf(other.reference - common);
    reference = common;
  }

  // Over the warp.
  __device__ __forceinline__ void reduce() {
    const float common = warp_max(reference);
    sum = warp_sum(sum * expf(reference - common));
    reference = common;
  }
};

// Sums over a block, or over the `blocks` of a cluster, in kPieceReductions bytes. Each warp tells
// its own to all of these blocks, works on, and hears the others' when it needs them. Each sum has
// its own one of two places, so that it overwrites nothing that others still read of the one
// before.
template <bool kCluster, int kThreads>
class RowSums {
  static constexpr unsigned kWarps = kThreads / kLanes; // of a block

 public:
  __device__ __forceinline__ RowSums(float* scratch, unsigned rank, unsigned blocks)
      : scratch_(scratch), rank_(rank), blocks_(blocks) {}

  __device__ __forceinline__ void tell(RunningSum of_thread) {
    of_thread.reduce();
    float* const own = scratch_ + place_ + rank_ * kWarps + threadIdx.x / kLanes;
    const unsigned lane = threadIdx.x % kLanes;
    if constexpr (kCluster) {
      if (lane < blocks_) {
        ptx::store_to_block(own, lane, of_thread.reference);
        ptx::store_to_block(own + kPieceWarps, lane, of_thread.sum);
      }
      ptx::cluster_arrive();
    } else if (lane == 0) {
      own[0] = of_thread.reference;
      own[kPieceWarps] = of_thread.sum;
    }
  }

  __device__ __forceinline__ RunningSum hear() {
    const float* const references = scratch_ + place_;
    const unsigned lane = threadIdx.x % kLanes;
    RunningSum result;
    if constexpr (kCluster) {
      ptx::cluster_wait();
      for (unsigned warp = lane; warp < blocks_ * kWarps; warp += kLanes)
        result.add({references[warp], references[kPieceWarps + warp]});
    } else {
      __syncthreads();
      if (lane < kWarps) result = {references[lane], references[kPieceWarps + lane]};
    }
    result.reduce();
    place_ = 2 * kPieceWarps - place_;
    return result;
  }

 private:
  float* scratch_;
  unsigned rank_, blocks_;
  int place_ = 0;
};

// blocks: of a cluster, which has a row; else 1.
template <Kind kind, class T, bool kCluster, int kThreads>
__global__ void __launch_bounds__(kThreads)
    row_in_pieces(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride, std::int64_t rows,
                  std::int64_t cols, int pieces, unsigned blocks) {
  using Ring = PieceRing<T, kThreads>;
  float* const scratch = dynamic_shared<float>();
  unsigned rank = 0;
  if constexpr (kCluster) rank = ptx::cluster_rank();
  const std::int64_t first = blockIdx.x / blocks, stride = gridDim.x / blocks;
  const int part = pieces * Ring::kPiece;
  const std::int64_t begin = std::int64_t{rank} * part, rest = cols - begin;
  std::int64_t left = (rows - first + stride - 1) / stride; // rows
  Ring ring(reinterpret_cast<T*>(scratch + kPieceReductions / sizeof(float)),
            x + first * x_stride + begin, stride * x_stride, left,
            static_cast<int>(rest < part ? rest : part), pieces, from_float<T>(kPadding));
  RowSums<kCluster, kThreads> sums(scratch, rank, blocks);

  RunningSum next;
  KG_ROLLED
  for (int at = ring.first(); at < part; at += Ring::kPiece) {
    typename Ring::Stored held[kPiecePacks];
    ring.meet(held, at);
    next.add(held);
  }
  if constexpr (kCluster) ptx::cluster_sync(); // the others have begun
  sums.tell(next);
  T* to = y + first * y_stride + begin;
  KG_ROLLED
  for (; left > 0; --left, to += stride * y_stride) {
    const bool has_next = left > 1;
    next = {};
    float of_row = 0, by = 0;
    KG_ROLLED
    for (int at = ring.first(); at < part; at += Ring::kPiece) {
      typename Ring::Stored held[kPiecePacks];
      if (has_next) {
        ring.meet(held, at);
        next.add(held);
      }
      if (at == ring.first()) {
        const RunningSum sum = sums.hear();
        of_row = sum.reference;
        by = normalizer<kind, T>(sum.sum);
      }
      ring.take(held, at);
      if (has_next && at + Ring::kPiece >= part) sums.tell(next);
      KG_UNROLL
      for (int p = 0; p < kPiecePacks; ++p)
        held[p].set(finished<kind, T>(widened_by_words(held[p]), of_row, by));
      ring.give(held, to, at);
    }
  }
  ptx::cp_async_wait_all();
}

} // namespace kg::softmax
