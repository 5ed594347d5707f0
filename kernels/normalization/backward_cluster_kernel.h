// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of rmsnorm and layernorm for long rows, with a cluster of blocks per row: as a
// block per row does (backward_kernels.h), with the registers of two to eight blocks. x and dy are
// read once, dx is written once, 12 bytes per element in f32, 6 in f16 and bf16; the columns' sums
// stay in registers from row to row. Of each row the blocks send one another two numbers.
//
// Expected on an H200: 85 to 90 % of a copy's rate from 16,384 to 65,536 columns and for many rows:
// 64 KiB of the rows to come are under way on each multiprocessor, and 3 % of these have no part
// (kClusterSms). These rows lie in shared memory, as they are stored: beside sums that go from
// block to block f32 has no registers for the next row. Why no barrier of the cluster per row: it
// releases, so each thread would first wait for the rows that it has under way.
#pragma once

#include "normalization/backward_kernels.h"
#include "primitives/cluster_shape.h"
#include "primitives/shared_row.h"
#include "ptx/cluster.h"
#include "ptx/cp_async.h"
#include "ptx/mbarrier.h"
#include "ptx/st_async.h"

namespace kg::normalization::backward {

// What a block receives of its cluster, in dynamic shared memory, which other blocks can reach: row
// after row in two places in turn. A block sends its sums of a row only when it has those of the
// row before, so nobody sends to a place again before all threads there have read it.
struct ClusterMail {
  std::uint64_t arrived[2];
  float2 of_blocks[2][kClusterBlocks];
};

template <Kind kind>
class ClusterSums {
 public:
  // scratch: kScratchSums of shared memory, in halves as BlockSums has it.
  __device__ ClusterSums(RowSums* scratch, ClusterMail* mail, unsigned blocks)
      : scratch_(scratch), mail_(mail), blocks_(blocks) {
    if (threadIdx.x < 2) ptx::mbarrier_init(&mail->arrived[threadIdx.x], 1);
    ptx::cluster_sync(); // nobody sends before
  }

  __device__ __forceinline__ RowSums operator()(RowSums own) {
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned place = row_ % 2;
    const unsigned phase = row_ / 2 % 2;
    ++row_;
    RowSums* const of_warps = scratch_ + place * (kScratchSums / 2);
    own = WarpSums<kind>()(own);
    if (lane == 0) of_warps[threadIdx.x / kLanes] = own;
    __syncthreads();
    if (threadIdx.x < kLanes) {
      const RowSums block = sums_of_warps<kind>(of_warps);
      if (lane == 0)
        ptx::mbarrier_arrive_expect_tx(&mail_->arrived[place],
                                       blocks_ * static_cast<unsigned>(sizeof(float2)));
      if (lane < blocks_)
        ptx::st_async(&mail_->of_blocks[place][ptx::cluster_rank()], make_float2(block.g, block.gn),
                      &mail_->arrived[place], lane);
    }
    ptx::mbarrier_wait_parity(&mail_->arrived[place], phase);
    float2 all = make_float2(0, 0);
    if (lane < blocks_) all = mail_->of_blocks[place][lane];
    return WarpSums<kind>()({all.x, all.y});
  }

 private:
  RowSums* scratch_;
  ClusterMail* mail_;
  unsigned blocks_;
  unsigned row_ = 0;
};

// A thread's packs of the rows to come, and these rows' statistics, in shared memory, where nobody
// else reads them. With a row more in 16 bits as many bytes are under way as in f32.
template <Kind kind, class T, int Count, int Packs>
class RowsInShared {
 public:
  static constexpr int kAhead = static_cast<int>(sizeof(float) / sizeof(T));
  static constexpr std::size_t kThreadBytes =
      kAhead * (2 * Packs * kPackBytes + sizeof(Statistics));

  __device__ explicit RowsInShared(void* memory)
      : mine_(static_cast<Stored*>(memory) + threadIdx.x),
        statistics_(reinterpret_cast<Statistics*>(static_cast<Stored*>(memory) +
                                                  kAhead * 2 * Packs * blockDim.x) +
                    threadIdx.x) {}

  __device__ void ask(const Backward<T>& f, std::int64_t row, int thread, int threads) {
    if (row < f.rows) {
      Statistics* const s = statistics_ + asked_ * blockDim.x;
      if constexpr (kind == Kind::layer) ptx::cp_async_ca<sizeof(float)>(&s->mean, f.mean + row);
      ptx::cp_async_ca<sizeof(float)>(&s->rstd, f.rstd + row);
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        const std::int64_t first = static_cast<std::int64_t>(p * threads + thread) * Count;
        const std::int64_t left = f.cols - first;
        const int bytes = static_cast<int>(left < 0       ? 0
                                           : left < Count ? left
                                                          : Count) *
                          static_cast<int>(sizeof(T));
        ptx::cp_async_cg(at(asked_, p), f.x + row * f.x_stride + first, bytes);
        ptx::cp_async_cg(at(asked_, Packs + p), f.dy + row * f.dy_stride + first, bytes);
      }
    }
    ptx::cp_async_commit();
    asked_ = (asked_ + 1) % kAhead;
  }

  // The row that was asked for first; the next ask() may take its place.
  __device__ RowPart<T, Count, Packs> take() {
    ptx::cp_async_wait_group<kAhead - 1>();
    const Statistics* const s = statistics_ + asked_ * blockDim.x;
    taken_ = {kind == Kind::layer ? s->mean : 0.0f, s->rstd};
    RowPart<T, Count, Packs> part;
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      part.x[p] = *at(asked_, p);
      part.dy[p] = *at(asked_, Packs + p);
    }
    return part;
  }
  __device__ Statistics statistics() const { return taken_; }

 private:
  using Stored = StoredPack<T, Count>;

  __device__ Stored* at(int row, int pack) const {
    return mine_ + (row * 2 * Packs + pack) * static_cast<int>(blockDim.x);
  }

  Stored* mine_;
  Statistics* statistics_;
  Statistics taken_ = {};
  int asked_ = 0; // where the next one goes
};

// Columns' sums of layernorm in f32, whose registers do not hold both vectors: dbeta's lie in
// shared memory, where nobody else reads them.
template <int Count, int Packs>
struct ColumnSumsInShared {
  static constexpr std::size_t kThreadBytes = Packs * Count * sizeof(float);
  Floats<Count> dgamma[Packs] = {};

  __device__ ColumnSumsInShared(void* memory, unsigned threads)
      : dbeta_(static_cast<float*>(memory), Packs * static_cast<std::int64_t>(threads)),
        threads_(threads) {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) dbeta_.put(place(p), {});
  }
  __device__ void add(int p, const Floats<Count>& dy, const Floats<Count>& n) {
    Floats<Count> sum = of_dbeta(p);
    add_to_columns(dgamma[p], sum, dy, n);
    dbeta_.put(place(p), sum);
  }
  __device__ Floats<Count> of_dbeta(int p) const { return dbeta_.get(place(p)); }

 private:
  __device__ unsigned place(int p) const { return p * threads_ + threadIdx.x; }

  SharedRow<Count> dbeta_;
  unsigned threads_; // of the block
};

// The shared memory of a cluster's block: its mail, its threads' rows to come, perhaps dbeta.
template <Kind kind, class T, int Count, int Packs>
struct ClusterMemory {
  using Rows = RowsInShared<kind, T, Count, Packs>;
  using Columns = ColumnSumsInShared<Count, Packs>;
  static constexpr bool kHoldsSums = kind == Kind::layer && sizeof(T) == sizeof(float);
  static constexpr std::size_t kThreadBytes =
      Rows::kThreadBytes + (kHoldsSums ? Columns::kThreadBytes : 0);
  static_assert(kThreadBytes <= kClusterThreadBytes);

  static std::size_t bytes(unsigned threads) {
    return sizeof(ClusterMail) + threads * kThreadBytes;
  }
  __device__ static ClusterMail* mail() { return dynamic_shared<ClusterMail>(); }
  __device__ static Rows rows() { return Rows(mail() + 1); }
  __device__ static auto columns() {
    if constexpr (kHoldsSums)
      return Columns(reinterpret_cast<unsigned char*>(mail() + 1) + blockDim.x * Rows::kThreadBytes,
                     blockDim.x);
    else
      return ColumnSums<Count, Packs>();
  }
};

// `clusters` of so many blocks, `threads` of a cluster: to compute them takes registers.
template <Kind kind, class T, int Count, int Packs>
__global__ void __launch_bounds__(kMostThreads)
    cluster_per_row(Backward<T> f, unsigned blocks, int threads, std::int64_t clusters) {
  using Memory = ClusterMemory<kind, T, Count, Packs>;
  __shared__ RowSums scratch[kScratchSums];
  const auto thread = static_cast<int>(ptx::cluster_rank() * blockDim.x + threadIdx.x);
  const auto columns = differentiate<kind, T, Count, Packs>(
      f, blockIdx.x / blocks, clusters, thread, threads, Memory::rows(), Memory::columns(),
      ClusterSums<kind>(scratch, Memory::mail(), blocks));
  store_partials<kind, Packs>(f, blockIdx.x / blocks, columns, thread, threads);
}

} // namespace kg::normalization::backward
