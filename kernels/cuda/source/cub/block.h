// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUB's block and warp collectives (BlockReduce, BlockScan, BlockLoad, BlockStore, WarpReduce). The
// algorithm does not change a block's reduction or scan: one thread combines the values of all
// threads in rank order.
#pragma once

#include "runtime/device_code.h"

#include <cstddef>

namespace cub {

struct Sum {
  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

namespace detail {

inline int rank() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

// One T per thread, in memory that needs no construction.
template <class T, int Threads>
struct Slots {
  alignas(T) unsigned char bytes[sizeof(T) * (Threads + 1)];
  T* values() { return reinterpret_cast<T*>(bytes); }
};

} // namespace detail

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
 public:
  using TempStorage = detail::Slots<T, X * Y * Z>;

  explicit BlockReduce(TempStorage& storage) : values_(storage.values()) {}

  // Only thread 0 receives the result.
  template <class Combine>
  T Reduce(T value, Combine combine, int valid = X * Y * Z) {
    values_[detail::rank()] = value;
    __syncthreads();
    if (detail::rank() != 0) return value;
    T total = values_[0];
    for (int i = 1; i < valid; ++i) total = combine(total, values_[i]);
    return total;
  }
  template <int N, class Combine>
  T Reduce(T (&items)[N], Combine combine) {
    T total = items[0];
    for (int i = 1; i < N; ++i) total = combine(total, items[i]);
    return Reduce(total, combine);
  }
  T Sum(T value) { return Reduce(value, cub::Sum()); }
  T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
  template <int N>
  T Sum(T (&items)[N]) {
    return Reduce(items, cub::Sum());
  }

 private:
  T* values_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
class BlockScan {
  static constexpr int kThreads = X * Y * Z;

 public:
  using TempStorage = detail::Slots<T, X * Y * Z>;

  explicit BlockScan(TempStorage& storage) : values_(storage.values()) {}

  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine, T& aggregate) {
    const T before = prefix(in, combine, aggregate);
    out = detail::rank() == 0 ? in : combine(before, in);
  }
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine) {
    T aggregate;
    InclusiveScan(in, out, combine, aggregate);
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, T initial, Combine combine, T& aggregate) {
    const T before = prefix(in, combine, aggregate);
    out = detail::rank() == 0 ? initial : combine(initial, before);
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, T initial, Combine combine) {
    T aggregate;
    ExclusiveScan(in, out, initial, combine, aggregate);
  }
  void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
  void InclusiveSum(T in, T& out, T& aggregate) { InclusiveScan(in, out, cub::Sum(), aggregate); }
  void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T{}, cub::Sum()); }
  void ExclusiveSum(T in, T& out, T& aggregate) {
    ExclusiveScan(in, out, T{}, cub::Sum(), aggregate);
  }

  // Several consecutive items per thread.
  template <int N>
  void ExclusiveSum(T (&in)[N], T (&out)[N], T& aggregate) {
    T sum = in[0];
    for (int i = 1; i < N; ++i) sum = sum + in[i];
    T before;
    ExclusiveSum(sum, before, aggregate);
    for (int i = 0; i < N; ++i) { // in and out may be the same array
      const T item = in[i];
      out[i] = before;
      before = before + item;
    }
  }
  template <int N>
  void ExclusiveSum(T (&in)[N], T (&out)[N]) {
    T aggregate;
    ExclusiveSum(in, out, aggregate);
  }
  template <int N>
  void InclusiveSum(T (&in)[N], T (&out)[N], T& aggregate) {
    T sum = in[0];
    for (int i = 1; i < N; ++i) sum = sum + in[i];
    T before;
    ExclusiveSum(sum, before, aggregate);
    for (int i = 0; i < N; ++i) out[i] = before = before + in[i];
  }
  template <int N>
  void InclusiveSum(T (&in)[N], T (&out)[N]) {
    T aggregate;
    InclusiveSum(in, out, aggregate);
  }

 private:
  // The combined values of the threads before this one; meaningless for thread 0.
  template <class Combine>
  T prefix(T in, Combine combine, T& aggregate) {
    const int rank = detail::rank();
    values_[rank] = in;
    __syncthreads();
    if (rank == 0) {
      T sum = values_[0];
      for (int i = 1; i < kThreads; ++i) {
        const T item = values_[i];
        values_[i] = sum;
        sum = combine(sum, item);
      }
      values_[kThreads] = sum;
    }
    __syncthreads();
    aggregate = values_[kThreads];
    return values_[rank];
  }

  T* values_;
};

template <class T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1,
          int Z = 1>
class BlockLoad {
 public:
  struct TempStorage {};

  BlockLoad() = default;
  explicit BlockLoad(TempStorage&) {}

  template <class From>
  void Load(From from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[place(i)];
  }
  template <class From>
  void Load(From from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i) {
      if (place(i) < valid) items[i] = from[place(i)];
    }
  }
  template <class From, class Default>
  void Load(From from, T (&items)[Items], int valid, Default otherwise) {
    for (int i = 0; i < Items; ++i)
      items[i] = place(i) < valid ? static_cast<T>(from[place(i)]) : static_cast<T>(otherwise);
  }

 private:
  static int place(int i) {
    return Algorithm == BLOCK_LOAD_STRIPED ? detail::rank() + i * X * Y * Z
                                           : detail::rank() * Items + i;
  }
};

template <class T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1,
          int Z = 1>
class BlockStore {
 public:
  struct TempStorage {};

  BlockStore() = default;
  explicit BlockStore(TempStorage&) {}

  template <class To>
  void Store(To to, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) to[place(i)] = items[i];
  }
  template <class To>
  void Store(To to, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i) {
      if (place(i) < valid) to[place(i)] = items[i];
    }
  }

 private:
  static int place(int i) {
    return Algorithm == BLOCK_STORE_STRIPED ? detail::rank() + i * X * Y * Z
                                            : detail::rank() * Items + i;
  }
};

// Reduces over `Lanes` lanes of a warp, a power of two. All of these lanes must take part.
template <class T, int Lanes = 32>
class WarpReduce {
 public:
  struct TempStorage {};

  explicit WarpReduce(TempStorage&) {}

  // Only the first lane receives the result.
  template <class Combine>
  T Reduce(T value, Combine combine) {
    for (int step = 1; step < Lanes; step *= 2) {
      const T other = __shfl_down_sync(mask(), value, static_cast<unsigned>(step), Lanes);
      value = combine(value, other);
    }
    return value;
  }
  T Sum(T value) { return Reduce(value, cub::Sum()); }

 private:
  static unsigned mask() {
    if (Lanes == 32) return ~0u;
    const int lane = detail::rank() % 32;
    return ((1u << (Lanes % 32)) - 1) << (lane / Lanes * Lanes);
  }
};

} // namespace cub
