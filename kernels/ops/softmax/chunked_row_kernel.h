// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of rows too long for persistent_row_kernel.h. Persistent blocks, or clusters of blocks
// that share a row, stream rows in chunks through shared memory (primitives/chunk_pipeline.h): one
// read and one write per element. Maximum and sum take one pass: Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018.
//
// About 15 instructions per 16-bit element; an H200 issues 32 in the time a copy takes per element.
// Expected there, of copy bandwidth: 90 % with one block per row, and 87 to 89 % with clusters,
// whose blocks wait for each other's sums; clusters of four and more leave multiprocessors idle.
//
// Why not reread the row as block_kernels.h does: no load is in flight during a block's reductions,
// and the rows of all blocks soon exceed L2. Why not keep the row in registers: 128 KiB in 16 bits
// fill the registers of 1024 threads.
#pragma once

#include "instructions/cluster.h"
#include "ops/softmax/row_access.h"
#include "primitives/chunk_pipeline.h"
#include "primitives/cluster_exchange.h"
#include "primitives/unpack_pairs.h"
#include "primitives/warp.h"

#include <cfloat>

namespace kg::softmax {

// A sum of exp(x - reference). The reference is the largest x so far, but never -inf, so that
// -inf - reference is -inf.
struct RunningSum {
  float reference = -FLT_MAX;
  float sum = 0;

  // Rescales at most once per call, since each rescaling adds the error of an exponential. The
  // maximum ignores NaN; the sum propagates it.
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
      const Floats<Count> values = unpack_pairs(packs[p]);
      KG_UNROLL
      for (int e = 0; e < Count; ++e) sum += exp_of_sum<T>(values.value[e] - reference);
    }
  }

  __device__ __forceinline__ void add(const RunningSum& other) {
    const float common = fmaxf(reference, other.reference);
    sum = sum * expf(reference - common) + other.sum * expf(other.reference - common);
    reference = common;
  }

  // Reduces over the warp.
  __device__ __forceinline__ void reduce() {
    const float common = warp_max(reference);
    sum = warp_sum(sum * expf(reference - common));
    reference = common;
  }
};

// Split-phase reduction over a block, or over the `blocks` of a cluster, in kChunkScratch bytes.
// publish() sends the warp's partial sum and returns; collect() waits and combines.
template <bool kCluster, int kThreads>
class RowSums {
 public:
  __device__ __forceinline__ RowSums(float* scratch, unsigned blocks)
      : exchange_(scratch, blocks) {}

  __device__ __forceinline__ void publish(RunningSum of_thread) {
    of_thread.reduce();
    exchange_.send(make_float2(of_thread.reference, of_thread.sum));
  }

  __device__ __forceinline__ RunningSum collect() {
    RunningSum result;
    exchange_.receive([&](float2 of_warp) { result.add({of_warp.x, of_warp.y}); });
    result.reduce();
    return result;
  }

 private:
  static_assert(ClusterExchange::bytes(kChunkBlocks, kThreads) <= kChunkScratch);
  ClusterExchange exchange_;
};

// Two buffers alternate, so a fast warp cannot overwrite a value still being read.
template <int kThreads>
class RowSums<false, kThreads> {
 public:
  __device__ __forceinline__ RowSums(float* scratch, unsigned) : scratch_(scratch) {}

  __device__ __forceinline__ void publish(RunningSum of_thread) {
    of_thread.reduce();
    float* const own = scratch_ + buffer_ + threadIdx.x / kLanes;
    if (threadIdx.x % kLanes != 0) return;
    own[0] = of_thread.reference;
    own[kChunkWarps] = of_thread.sum;
  }

  __device__ __forceinline__ RunningSum collect() {
    const float* const references = scratch_ + buffer_;
    const unsigned lane = threadIdx.x % kLanes;
    RunningSum result;
    __syncthreads();
    if (lane < kThreads / kLanes) result = {references[lane], references[kChunkWarps + lane]};
    result.reduce();
    buffer_ = 2 * kChunkWarps - buffer_;
    return result;
  }

 private:
  float* scratch_;
  int buffer_ = 0;
};

// blocks: the size of the cluster that shares a row, or 1. chunks: per block's part of a row.
template <Kind kind, class T, bool kCluster, int kThreads>
__global__ void __launch_bounds__(kThreads)
    row_in_pieces(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride, std::int64_t rows,
                  std::int64_t cols, int chunks, unsigned blocks) {
  using Pipeline = ChunkPipeline<T, kThreads>;
  float* const scratch = dynamic_shared<float>();
  unsigned rank = 0;
  if constexpr (kCluster) rank = ptx::cluster_rank();
  const std::int64_t first = blockIdx.x / blocks, stride = gridDim.x / blocks;
  const int part = chunks * Pipeline::kChunk;
  const std::int64_t begin = std::int64_t{rank} * part, rest = cols - begin;
  std::int64_t left = (rows - first + stride - 1) / stride; // rows
  Pipeline pipeline(reinterpret_cast<T*>(scratch + kChunkScratch / sizeof(float)),
                    x + first * x_stride + begin, stride * x_stride, left,
                    static_cast<int>(rest < part ? rest : part), chunks, from_float<T>(kPadding));
  RowSums<kCluster, kThreads> sums(scratch, blocks);

  RunningSum next;
  KG_ROLLED
  for (int at = pipeline.first(); at < part; at += Pipeline::kChunk) {
    typename Pipeline::Stored held[kChunkPacks];
    pipeline.read(held, at);
    next.add(held);
  }
  sums.publish(next);
  T* to = y + first * y_stride + begin;
  KG_ROLLED
  for (; left > 0; --left, to += stride * y_stride) {
    const bool has_next = left > 1;
    next = {};
    float of_row = 0, by = 0;
    KG_ROLLED
    for (int at = pipeline.first(); at < part; at += Pipeline::kChunk) {
      typename Pipeline::Stored held[kChunkPacks];
      if (has_next) {
        pipeline.read(held, at);
        next.add(held);
      }
      if (at == pipeline.first()) {
        const RunningSum sum = sums.collect();
        of_row = sum.reference;
        by = normalizer<kind, T>(sum.sum);
      }
      pipeline.reread(held, at);
      if (has_next && at + Pipeline::kChunk >= part) sums.publish(next);
      KG_UNROLL
      for (int p = 0; p < kChunkPacks; ++p)
        held[p].set(finished<kind, T>(unpack_pairs(held[p]), of_row, by));
      pipeline.store(held, to, at);
    }
  }
  ptx::cp_async_wait_all();
}

} // namespace kg::softmax
