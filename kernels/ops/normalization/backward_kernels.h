// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of rmsnorm and layernorm in one pass: x and dy are read once, dx is written once,
// and column sums stay in registers from row to row. Theoretical minimum: 12 bytes per element in
// f32, 6 in f16 and bf16. The blocks' sums, 4 bytes per column, block and vector, are written and
// read once, mostly in L2: for layernorm and 132 blocks, as many bytes as 176 rows of f32. 9 to 13
// operations per element are a tenth of an H200's capacity in that time.
//
// Few threads have enough registers, so each loads its next row before it reduces this one: 512
// threads with 16 elements have 32 to 64 KiB in flight, about what the memory needs. A row's
// statistics are loaded with it; loaded on use, they would add a second memory round trip per row.
// Such a kernel reached 73 % (layernorm) and 75 % (rmsnorm) of copy bandwidth on an H200 for bf16
// and 4096 columns; the simulator, given its machine code, says 74 and 79 %. Simulated, this kernel
// reaches copy bandwidth. Not measured.
//
// Why not atomics on dgamma: the order, and so the bits, would change from run to run. Why not a
// separate pass for columns: 5 passes instead of 3.
#pragma once

#include "ops/normalization/backward_row.h"
#include "primitives/shared_row.h"
#include "primitives/stored_pack.h"

namespace kg::normalization::backward {

// Whether all of a thread's vectors lie in the row; only the last one can extend beyond it.
template <int Count, int Packs>
__device__ __forceinline__ bool all_in_row(int thread, int threads, std::int64_t cols) {
  return ((Packs - 1) * threads + thread + 1) * Count <= cols;
}

// A thread's vectors of a row, every `threads`-th from its own, in their stored type: half the
// registers for 16-bit types.
template <class T, int Count, int Packs>
struct RowPart {
  StoredPack<T, Count> x[Packs];
  StoredPack<T, Count> dy[Packs];

  __device__ void load(const Backward<T>& f, std::int64_t row, int thread, int threads) {
    const T* const of_x = f.x + row * f.x_stride;
    const T* const of_dy = f.dy + row * f.dy_stride;
    if (all_in_row<Count, Packs>(thread, threads, f.cols)) {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        x[p].load(of_x + (p * threads + thread) * Count);
        dy[p].load(of_dy + (p * threads + thread) * Count);
      }
    } else {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        x[p] = load_stored<T, Count>(of_x, p * threads + thread, f.cols);
        dy[p] = load_stored<T, Count>(of_dy, p * threads + thread, f.cols);
      }
    }
  }
};

// Holds the next row's vectors and statistics while a thread computes with the current row.
template <Kind kind, class T, int Count, int Packs>
class RowsInRegisters {
 public:
  static constexpr int kAhead = 1; // rows prefetched

  __device__ void prefetch(const Backward<T>& f, std::int64_t row, int thread, int threads) {
    if (row < f.rows) {
      next_.load(f, row, thread, threads);
      asked_ = backward::statistics<kind>(f, row);
    }
  }
  __device__ RowPart<T, Count, Packs> read() {
    taken_ = asked_;
    return next_;
  }
  // The statistics of the current row.
  __device__ Statistics statistics() const { return taken_; }

 private:
  RowPart<T, Count, Packs> next_ = {};
  Statistics asked_ = {};
  Statistics taken_ = {};
};

// Maximum bytes of gamma in registers; with twice as many, f32 threads spill (nvcc 13.0, sm_90a).
inline constexpr std::size_t kMostGammaBytes = 32;

// Replaces gamma if there is none.
template <class T, int Count>
__device__ __forceinline__ Pack<T, Count> ones() {
  Pack<T, Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) result.element[e] = from_float<T>(1.0f);
  return result;
}

// Sums of a thread's columns.
template <int Count, int Packs>
struct ColumnSums {
  Floats<Count> dgamma[Packs] = {};
  Floats<Count> dbeta[Packs] = {};

  __device__ void add(int p, const Floats<Count>& dy, const Floats<Count>& n) {
    add_to_columns(dgamma[p], dbeta[p], dy, n);
  }
  __device__ Floats<Count> of_dbeta(int p) const { return dbeta[p]; }
};

// Processes rows first, first + step, ... from `rows`; `sums` reduces over a row's threads. Returns
// `columns` plus the rows' terms.
template <Kind kind, class T, int Count, int Packs, class Rows, class Columns, class Sums>
__device__ Columns differentiate(const Backward<T>& f, std::int64_t first, std::int64_t step,
                                 int thread, int threads, Rows rows, Columns columns, Sums sums) {
  StoredPack<T, Count> gamma[Packs];
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) gamma[p].set(ones<T, Count>());
  const auto load_gamma = [&] {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p)
      if (f.gamma != nullptr)
        gamma[p] = load_stored<T, Count>(f.gamma, p * threads + thread, f.cols);
  };
  // The same for every row: kept in registers if they suffice, else loaded from L1 each time.
  constexpr bool kKeepsGamma = Packs * sizeof(Pack<T, Count>) <= kMostGammaBytes;
  if constexpr (kKeepsGamma) load_gamma();
  KG_UNROLL
  for (int r = 0; r < Rows::kAhead; ++r) rows.prefetch(f, first + r * step, thread, threads);
  for (std::int64_t row = first; row < f.rows; row += step) {
    RowPart<T, Count, Packs> now = rows.read();
    if constexpr (!kKeepsGamma) load_gamma();
    rows.prefetch(f, row + Rows::kAhead * step, thread, threads);
    loaded(now.x);
    loaded(now.dy);
    loaded(gamma);
    const Statistics s = rows.statistics();
    Floats<Count> g[Packs];
    Floats<Count> n[Packs];
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) n[p] = normalized(widened(now.x[p]), s);
    if (!all_in_row<Count, Packs>(thread, threads, f.cols)) {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p)
        cut(n[p], elements_in_row<Count>(p * threads + thread, f.cols));
    }
    RowSums own = {0, 0};
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      const Floats<Count> dy = widened(now.dy[p]);
      g[p] = weighted(dy, widened(gamma[p]));
      add_to_row(own, g[p], n[p]);
      columns.add(p, dy, n[p]);
    }
    const RowSums mean = means<kind>(sums(own), f.reciprocal);
    KG_UNROLL
    for (int p = 0; p < Packs; ++p)
      store_pack<T, Count, Store::streamed>(f.dx + row * f.dx_stride, p * threads + thread, f.cols,
                                            gradients(g[p], n[p], s.rstd, mean));
  }
  return columns;
}

// Stores a vector of 8 floats in two accesses. nvcc splits them (store_wide), which once per block
// costs less than the registers to prevent it.
template <Kind kind, class T, int Count>
__device__ void store_partial(const Backward<T>& f, std::int64_t part, int vector,
                              std::int64_t pack, const Floats<Count>& sums) {
  constexpr int kWidth = Count < 4 ? Count : 4;
  constexpr int kAccesses = Count / kWidth;
  float* const to = f.partials + partial_offset(part, vectors(kind), vector, f.cols);
  KG_UNROLL
  for (int a = 0; a < kAccesses; ++a) {
    Floats<kWidth> values;
    KG_UNROLL
    for (int e = 0; e < kWidth; ++e) values.value[e] = sums.value[a * kWidth + e];
    store_pack<float, kWidth>(to, pack * kAccesses + a, f.cols, values);
  }
}

// Stores a part's column sums, as returned by `differentiate`.
template <Kind kind, int Packs, class T, class Columns>
__device__ __forceinline__ void store_partials(const Backward<T>& f, std::int64_t part,
                                               const Columns& columns, int thread, int threads) {
  if (f.partials == nullptr) return;
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    store_partial<kind>(f, part, 0, p * threads + thread, columns.dgamma[p]);
    if constexpr (kind == Kind::layer)
      store_partial<kind>(f, part, 1, p * threads + thread, columns.of_dbeta(p));
  }
}

// Dynamic shared memory of warp_per_row: the warps' column sums.
template <Kind kind, int Count, int Packs>
inline constexpr std::size_t kWarpSharedBytes = sizeof(float) *
                                                vectors(kind) * kRowsPerBlock* Packs* Count* kLanes;

template <Kind kind, class T, int Count, int Packs>
__global__ void __launch_bounds__(kRowsPerBlock* kLanes, kWarpBlocksPerSm)
    warp_per_row(Backward<T> f) {
  constexpr int kRowPacks = Packs * kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const auto columns = differentiate<kind, T, Count, Packs>(
      f, static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + warp,
      static_cast<std::int64_t>(gridDim.x) * kRowsPerBlock, lane, kLanes,
      RowsInRegisters<kind, T, Count, Packs>(), ColumnSums<Count, Packs>(), WarpSums<kind>());
  if (f.partials == nullptr) return;

  float* const shared = dynamic_shared<float>();
  const auto sums_of = [&](int vector, int of) {
    return SharedRow<Count>(shared + (vector * kRowsPerBlock + of) * kRowPacks * Count, kRowPacks);
  };
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    sums_of(0, warp).put(p * kLanes + lane, columns.dgamma[p]);
    if constexpr (kind == Kind::layer) sums_of(1, warp).put(p * kLanes + lane, columns.dbeta[p]);
  }
  __syncthreads();
  for (int pack = static_cast<int>(threadIdx.x); pack < kRowPacks;
       pack += static_cast<int>(blockDim.x))
    for (int vector = 0; vector < vectors(kind); ++vector) {
      Floats<Count> sum = sums_of(vector, 0).get(pack);
      for (int w = 1; w < kRowsPerBlock; ++w) {
        const Floats<Count> other = sums_of(vector, w).get(pack);
        KG_UNROLL
        for (int e = 0; e < Count; ++e) sum.value[e] += other.value[e];
      }
      store_partial<kind>(f, blockIdx.x, vector, pack, sum);
    }
}

template <Kind kind, class T, int Count, int Packs>
__global__ void __launch_bounds__(kMostThreads) block_per_row(Backward<T> f) {
  __shared__ RowSums scratch[kScratchSums];
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const auto columns = differentiate<kind, T, Count, Packs>(
      f, blockIdx.x, gridDim.x, thread, threads, RowsInRegisters<kind, T, Count, Packs>(),
      ColumnSums<Count, Packs>(), BlockSums<kind>(scratch));
  store_partials<kind, Packs>(f, blockIdx.x, columns, thread, threads);
}

} // namespace kg::normalization::backward
