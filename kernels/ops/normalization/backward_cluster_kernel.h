// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of rmsnorm and layernorm for long rows, with one cluster of blocks per row. x and
// dy are read once and dx is written once: 12 bytes per element in f32, 6 in f16 and bf16. Column
// sums stay in registers across rows and leave no room for the row, so x, dy and gamma are in
// shared memory in their stored types and are read there twice: for the row's sums, and for dx. The
// warps of a cluster exchange two numbers per row (backward_cluster_sums.h).
//
// Clusters are as small as the registers permit. A cluster of 2 fits every pair of multiprocessors;
// larger ones do not fit everywhere (clusters_at_once), and a cluster without room runs after all
// others. On an H200, 32 clusters of 8 smaller blocks reached 0.46 (layernorm) and 0.57 (rmsnorm)
// of copy bandwidth for bf16 and 32,768 columns. Such rows are limited by instructions: with 32
// elements per thread they take nearly the time that memory needs. So all distances are
// compile-time constants, and threads whose packs are all complete skip the checks. The rate of
// this kernel is not measured yet.
#pragma once

#include "ops/normalization/backward_cluster_sums.h"
#include "ops/normalization/backward_kernels.h"
#include "ops/normalization/backward_pair_pipeline.h"
#include "primitives/unpack_pairs.h"

#include <utility>

namespace kg::normalization::backward {

// Shared memory of a cluster's block: its threads' pairs, gamma, its sums.
template <Kind kind, class T, int Count, int Packs, int Threads>
struct ClusterMemory {
  using Pipeline = PairPipeline<T, Count, Packs, Threads>;
  static constexpr std::size_t kPipelineBytes =
      std::size_t{2} * Pipeline::kPairs * Threads * kPackBytes;
  static constexpr std::size_t kGammaBytes = std::size_t{Packs} * Threads * kPackBytes;
  static_assert(kPipelineBytes + kGammaBytes <= Threads * kClusterThreadBytes);

  static std::size_t bytes(int blocks) {
    return kPipelineBytes + kGammaBytes + ClusterSums<kind>::bytes(blocks, Threads);
  }
  __device__ static unsigned char* pairs() { return dynamic_shared<unsigned char>(); }
  __device__ static unsigned char* gamma() { return pairs() + kPipelineBytes; }
  __device__ static unsigned char* sums() { return gamma() + kGammaBytes; }
};

// Calls use.template operator()<p>() for each pack.
template <int Packs, class Use>
__device__ __forceinline__ void each_pack(const Use& use) {
  [&]<int... p>(std::integer_sequence<int, p...>) { (use.template operator()<p>(), ...); }
  (std::make_integer_sequence<int, Packs>());
}

// `clusters` clusters; each of their blocks has a slice of every row.
template <Kind kind, class T, int Count, int Packs, int Threads>
__global__ void __launch_bounds__(Threads, kMostThreads / Threads)
    cluster_per_row(Backward<T> f, unsigned blocks, int slice, std::int64_t clusters) {
  using Stored = StoredPack<T, Count>;
  using Memory = ClusterMemory<kind, T, Count, Packs, Threads>;
  using Pipeline = typename Memory::Pipeline;
  const auto cols = static_cast<int>(f.cols);
  const auto thread = static_cast<int>(threadIdx.x);
  const int of_block = static_cast<int>(ptx::cluster_rank()) * slice; // first vector of the block
  const int of_slice = min(slice * Count, cols - of_block * Count);   // elements of the slice
  const int begin = (of_block + thread) * Count;
  const std::int64_t first = blockIdx.x / blocks;
  Pipeline pipeline(Memory::pairs(), f, first, clusters, begin, of_slice - thread * Count);
  const ptx::SharedPointer<Stored> gamma = reinterpret_cast<Stored*>(Memory::gamma()) + thread;
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    Stored pack;
    pack.set(ones<T, Count>());
    if (f.gamma != nullptr)
      pack = load_stored<T, Count>(f.gamma + of_block * Count, p * Threads + thread, of_slice);
    gamma[p * Threads] = pack;
  }
  ClusterSums<kind> sums(Memory::sums(), blocks);
  ColumnSums<Count, Packs> columns;

  // Adds each pair to the sums of the row and of the columns as it arrives.
  const auto add = [&]<bool kWhole>(Statistics s) {
    RowSums own = {0, 0};
    each_pack<Packs>([&]<int p>() {
      ptx::cp_async_wait_group<Pipeline::kPairs - 1 - p>();
      if (!kWhole && pipeline.left(p) <= 0) return;
      const Stored of_x = pipeline.x(p), of_dy = pipeline.dy(p), of_gamma = gamma[p * Threads];
      const Floats<Count> dy = unpack_pairs(of_dy);
      Floats<Count> n = normalized(unpack_pairs(of_x), s);
      if (!kWhole) cut(n, pipeline.left(p));
      add_to_row(own, weighted(dy, unpack_pairs(of_gamma)), n);
      columns.add(p, dy, n);
    });
    return own;
  };
  // Writes dx of the row and prefetches another. n is not computed: `slope` has its factors.
  T* dx = f.dx + first * f.dx_stride + begin;
  const auto give = [&]<bool kWhole>(Statistics s, RowSums mean) {
    const float slope = s.rstd * mean.gn;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      if (kWhole || pipeline.left(p) > 0) {
        const Stored of_x = pipeline.x(p), of_dy = pipeline.dy(p), of_gamma = gamma[p * Threads];
        const Floats<Count> x = unpack_pairs(of_x);
        const Floats<Count> g = weighted(unpack_pairs(of_dy), unpack_pairs(of_gamma));
        Floats<Count> gradient;
        KG_UNROLL
        for (int e = 0; e < Count; ++e)
          gradient.value[e] = s.rstd * (g.value[e] - mean.g - (x.value[e] - s.mean) * slope);
        store_pack<T, Count, Store::streamed>(dx + p * Threads * Count, 0,
                                              kWhole ? Count : pipeline.left(p), gradient);
      }
      pipeline.template prefetch<kWhole>(p);
    }
  };

  const bool whole = pipeline.left(Packs - 1) >= Count;
  const auto statistics_of = [&](std::int64_t row) {
    return row < f.rows ? statistics<kind>(f, row) : Statistics{};
  };
  Statistics next = statistics_of(first);
  KG_ROLLED
  for (std::int64_t row = first; row < f.rows;) {
    const Statistics s = next;
    sums.send(whole ? add.template operator()<true>(s) : add.template operator()<false>(s));
    row += clusters;
    // Loaded while the other blocks' sums arrive, since nvcc (13.0) may make the warp wait here:
    // loads by all lanes from one address go to uniform registers.
    next = statistics_of(row);
    const RowSums mean = means<kind>(sums.receive(), f.reciprocal);
    if (whole)
      give.template operator()<true>(s, mean);
    else
      give.template operator()<false>(s, mean);
    pipeline.next();
    dx += clusters * f.dx_stride;
  }
  ptx::cp_async_wait_all();
  if (f.partials == nullptr) return;
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    if (pipeline.left(p) <= 0) continue;
    const std::int64_t pack = of_block + p * Threads + thread;
    store_partial<kind>(f, first, 0, pack, columns.dgamma[p]);
    if constexpr (kind == Kind::layer) store_partial<kind>(f, first, 1, pack, columns.dbeta[p]);
  }
}

} // namespace kg::normalization::backward
