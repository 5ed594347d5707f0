// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of rmsnorm and layernorm for rows too long for the registers of a cluster
// (backward_cluster_kernel.h): a thread has 64 elements of a row. Registers hold the sums for
// dgamma, which persist across rows. x and dy stream through shared memory, pack by pack: one pass
// for the row's sums and one for dx. As many packs as fit beside dbeta's sums stay there between
// the passes; the others are read again, from L2 if the rows in flight fit:
//
//   packs kept, on an H200             f32        16 bits
//   262,144 columns, rmsnorm           10 of 16   all
//   262,144 columns, layernorm         4 of 16    4 of 8
//
// Packs are prefetched in the order of their use, across passes and rows, by a fixed distance.
// Thus 32 or 64 KiB per multiprocessor stay in flight, even while its block waits for the others.
// Modelled for an H200 with many rows: 62 to 94 % of copy bandwidth. Why not clusters of 16 blocks,
// which would keep twice as many packs: they are not portable.
#pragma once

#include "instructions/cp_async.h"
#include "ops/normalization/backward_cluster_sums.h"
#include "ops/normalization/backward_kernels.h"
#include "primitives/shared_row.h"
#include "runtime/device.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg::normalization::backward {

// A thread's packs on their way through shared memory, which no other thread reads. The last `held`
// of a row's `packs` stay until they are read again (reread()); the first ones are loaded a second
// time. With held + Ahead slots in rotation, a prefetch always gets a slot whose pack has been read
// for the last time.
template <class T, int Count, int Ahead>
class PackPipeline {
 public:
  static constexpr std::size_t kSlotBytes = 2 * kPackBytes; // per thread

  struct Packs {
    StoredPack<T, Count> x, dy;
  };

  __device__ PackPipeline(void* memory, const Backward<T>& f, std::int64_t first, std::int64_t step,
                          int thread, int threads, int packs, int held)
      : mine_(static_cast<Stored*>(memory) + threadIdx.x), f_(f), row_(first), step_(step),
        thread_(thread), threads_(threads), packs_(packs), held_(held) {
    KG_UNROLL
    for (int a = 0; a < Ahead; ++a) prefetch();
  }

  // Returns the next pack and prefetches another.
  __device__ __forceinline__ Packs read() {
    ptx::cp_async_wait_group<Ahead - 1>();
    const Packs result = at(read_);
    read_ = next_slot(read_);
    prefetch();
    return result;
  }

  // After the last pack of a row: reread() starts at the first held pack.
  __device__ void rewind() {
    reread_ = read_ - held_;
    if (reread_ < 0) reread_ += held_ + Ahead;
  }
  __device__ __forceinline__ Packs reread() {
    const Packs result = at(reread_);
    reread_ = next_slot(reread_);
    return result;
  }

 private:
  using Stored = StoredPack<T, Count>;

  __device__ void prefetch() {
    if (row_ < f_.rows) {
      const int pack = visit_ < packs_ ? visit_ : visit_ - packs_;
      const std::int64_t first = (static_cast<std::int64_t>(pack) * threads_ + thread_) * Count;
      const std::int64_t left = f_.cols - first;
      const int elements = left < 0 ? 0 : left < Count ? static_cast<int>(left) : Count;
      const int bytes = elements * static_cast<int>(sizeof(T));
      ptx::cp_async_cg(slot(prefetched_, 0), f_.x + row_ * f_.x_stride + first, bytes);
      ptx::cp_async_cg(slot(prefetched_, 1), f_.dy + row_ * f_.dy_stride + first, bytes);
    }
    ptx::cp_async_commit();
    prefetched_ = next_slot(prefetched_);
    if (++visit_ == 2 * packs_ - held_) {
      visit_ = 0;
      row_ += step_;
    }
  }

  __device__ Stored* slot(int number, int which) const {
    return mine_ + (2 * number + which) * kMostThreads;
  }
  __device__ Packs at(int number) const { return {*slot(number, 0), *slot(number, 1)}; }
  __device__ int next_slot(int number) const {
    return number + 1 == held_ + Ahead ? 0 : number + 1;
  }

  Stored* mine_;
  const Backward<T>& f_;
  std::int64_t row_, step_; // of the next prefetch
  int thread_, threads_, packs_, held_;
  int visit_ = 0; // index in the row's sequence of reads, in which packs not held occur twice
  int prefetched_ = 0, read_ = 0, reread_ = 0; // slots
};

// Column sums of layernorm: those of dgamma in registers, those of dbeta in shared memory private
// to the thread.
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
  unsigned threads_; // per block
};

// Shared memory of a block: exchange of sums, dbeta's sums, and the pipeline.
template <Kind kind, class T, int Count, int Most>
struct WideMemory {
  static constexpr int kAhead = wide_ahead(kind);
  using Pipeline = PackPipeline<T, Count, kAhead>;
  using Dbeta = ColumnSumsInShared<Count, Most>;
  static constexpr std::size_t kSumsBytes = kind == Kind::layer ? Dbeta::kThreadBytes : 0;

  // The number of a row's packs that stay.
  static int held(int packs) {
    const std::size_t of_thread =
        (device_properties().shared_bytes_per_block_optin - kClusterMailBytes) / kMostThreads;
    return std::min(packs,
                    static_cast<int>((of_thread - kSumsBytes) / Pipeline::kSlotBytes) - kAhead);
  }
  static std::size_t bytes(int held) {
    const auto slots = static_cast<std::size_t>(held + kAhead);
    return kClusterMailBytes + kMostThreads * (kSumsBytes + slots * Pipeline::kSlotBytes);
  }

  __device__ static unsigned char* mail() { return dynamic_shared<unsigned char>(); }
  __device__ static unsigned char* dbeta() { return mail() + kClusterMailBytes; }
  __device__ static unsigned char* slots() { return dbeta() + kMostThreads * kSumsBytes; }
  __device__ static auto columns() {
    if constexpr (kind == Kind::layer)
      return Dbeta(dbeta(), kMostThreads);
    else
      return ColumnSums<Count, Most>();
  }
};

// The grid has `clusters` clusters of `blocks` blocks with `threads` threads in total. A thread has
// `packs` packs of a row, at most Most; the last `held` stay in shared memory.
template <Kind kind, class T, int Count, int Most>
__global__ void __launch_bounds__(kMostThreads)
    wide_cluster_per_row(Backward<T> f, unsigned blocks, int threads, std::int64_t clusters,
                         int packs, int held) {
  using Memory = WideMemory<kind, T, Count, Most>;
  const auto thread = static_cast<int>(ptx::cluster_rank() * blockDim.x + threadIdx.x);
  const std::int64_t first = blockIdx.x / blocks;
  auto columns = Memory::columns();
  ClusterSums<kind> sums(Memory::mail(), blocks);
  typename Memory::Pipeline pipeline(Memory::slots(), f, first, clusters, thread, threads, packs,
                                     held);
  const auto gamma_of = [&](int p) {
    return f.gamma == nullptr ? StoredPack<T, Count>()
                              : load_stored<T, Count>(f.gamma, p * threads + thread, f.cols);
  };
  // g and n of a pack
  struct Terms {
    Floats<Count> g, n;
  };
  const auto terms = [&](int p, const auto& stored, const StoredPack<T, Count>& by, Statistics s) {
    const Floats<Count> dy = widened(stored.dy);
    Floats<Count> n = normalized(widened(stored.x), s);
    cut(n, elements_in_row<Count>(p * threads + thread, f.cols));
    return Terms{f.gamma == nullptr ? dy : weighted(dy, widened(by)), n};
  };

  Statistics next = first < f.rows ? statistics<kind>(f, first) : Statistics{};
  for (std::int64_t row = first; row < f.rows; row += clusters) {
    const Statistics s = next;
    RowSums own = {0, 0};
    // gamma of the next pack, loaded while the previous one may be in flight.
    StoredPack<T, Count> gamma = gamma_of(0);
    int again = (packs - held) % packs;
    KG_UNROLL
    for (int p = 0; p < Most; ++p) {
      if (p == packs) break;
      const StoredPack<T, Count> by = gamma;
      gamma = gamma_of(p + 1 < packs ? p + 1 : again);
      const auto stored = pipeline.read();
      const Terms of = terms(p, stored, by, s);
      add_to_row(own, of.g, of.n);
      columns.add(p, widened(stored.dy), of.n);
    }
    sums.send(own);
    if (row + clusters < f.rows) next = statistics<kind>(f, row + clusters);
    const RowSums mean = means<kind>(sums.receive(), f.reciprocal);
    pipeline.rewind();
    for (int seen = 0; seen < packs; ++seen) {
      const int p = again;
      const StoredPack<T, Count> by = gamma;
      again = p + 1 < packs ? p + 1 : 0;
      gamma = gamma_of(again);
      const Terms of = terms(p, seen < held ? pipeline.reread() : pipeline.read(), by, s);
      store_pack<T, Count, Store::streamed>(f.dx + row * f.dx_stride, p * threads + thread, f.cols,
                                            gradients(of.g, of.n, s.rstd, mean));
    }
  }
  store_partials<kind, Most>(f, first, columns, thread, threads);
}

} // namespace kg::normalization::backward
