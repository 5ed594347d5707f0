// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of CUB that is there, as kernels and programs use it.
#include <cub/cub.cuh>

#include <gtest/gtest.h>
#include <vector>

namespace {

constexpr int kThreads = 64, kItems = 3;

struct Result {
  int sum, largest, of_valid, of_items, warp;
  int inclusive[kThreads], exclusive[kThreads], maxima[kThreads], aggregate;
};

__global__ void collectives(const int* in, Result* result) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Scan::TempStorage scan;
  } storage;
  __shared__ typename cub::WarpReduce<int>::TempStorage warps[2];
  const int i = threadIdx.x, value = in[i];
  const int sum = Reduce(storage.reduce).Sum(value);
  __syncthreads();
  const int largest = Reduce(storage.reduce).Reduce(value, cub::Max());
  __syncthreads();
  const int of_valid = Reduce(storage.reduce).Sum(value, 10);
  __syncthreads();
  int items[2] = {value, 1};
  const int of_items = Reduce(storage.reduce).Sum(items);
  __syncthreads();
  const int warp = cub::WarpReduce<int>(warps[i / 32]).Sum(value);
  int inclusive, exclusive, aggregate, maximum;
  Scan(storage.scan).InclusiveSum(value, inclusive);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(value, exclusive, aggregate);
  __syncthreads();
  Scan(storage.scan).InclusiveScan(value, maximum, cub::Max());
  result->inclusive[i] = inclusive;
  result->exclusive[i] = exclusive;
  result->maxima[i] = maximum;
  if (i == 0) {
    result->sum = sum;
    result->largest = largest;
    result->of_valid = of_valid;
    result->of_items = of_items;
    result->aggregate = aggregate;
  }
  if (i == 32) result->warp = warp;
}

__global__ void scan_items(const int* in, int* out, int valid) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } storage;
  int items[kItems];
  Load(storage.load).Load(in, items, valid, 0);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, items);
  __syncthreads();
  Store(storage.store).Store(out, items, valid);
}

template <class T>
class Managed {
 public:
  explicit Managed(std::size_t n) {
    EXPECT_EQ(cudaMallocManaged(&data_, n * sizeof(T)), cudaSuccess);
  }
  ~Managed() { EXPECT_EQ(cudaFree(data_), cudaSuccess); }
  operator T*() const { return data_; }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// Neither sorted nor all different.
int number(int i) { return i * 37 % 50 - 9; }

TEST(Cub, CollectivesOfABlock) {
  const Managed<int> in(kThreads);
  const Managed<Result> result(1);
  for (int i = 0; i < kThreads; ++i) in[i] = number(i);
  collectives<<<1, kThreads>>>(in.data(), result.data());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  int sum = 0, largest = in[0], of_valid = 0, warp = 0;
  const Result& r = *static_cast<Result*>(result);
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_EQ(r.exclusive[i], sum);
    sum += in[i];
    largest = std::max(largest, static_cast<int>(in[i]));
    EXPECT_EQ(r.inclusive[i], sum);
    EXPECT_EQ(r.maxima[i], largest);
    if (i < 10) of_valid = sum;
    if (i >= 32) warp += in[i];
  }
  EXPECT_EQ(r.sum, sum);
  EXPECT_EQ(r.largest, largest);
  EXPECT_EQ(r.of_valid, of_valid);
  EXPECT_EQ(r.of_items, sum + kThreads);
  EXPECT_EQ(r.aggregate, sum);
  EXPECT_EQ(r.warp, warp);
}

TEST(Cub, ItemsOfAThread) {
  constexpr int kValid = kThreads * kItems - 5;
  const Managed<int> in(kValid), out(kValid);
  for (int i = 0; i < kValid; ++i) in[i] = number(i);
  scan_items<<<1, kThreads>>>(in.data(), out.data(), kValid);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0, sum = 0; i < kValid; sum += in[i++]) EXPECT_EQ(out[i], sum) << i;
}

TEST(Cub, AlgorithmsOfTheDevice) {
  constexpr int kN = 100;
  const Managed<int> in(kN), out(kN), order(kN), sorted_order(kN);
  const Managed<double> doubles(kN), largest(1);
  int expected = 0;
  for (int i = 0; i < kN; ++i) {
    in[i] = number(i);
    doubles[i] = -1.5 - i;
    order[i] = i;
    expected += number(i);
  }
  std::size_t bytes = 0;
  ASSERT_EQ(
      cub::DeviceReduce::Sum(nullptr, bytes, static_cast<int*>(in), static_cast<int*>(out), kN),
      cudaSuccess);
  EXPECT_GT(bytes, 0u);
  char* memory;
  ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  const int* const from = in;
  int* const to = out;
  EXPECT_EQ(cub::DeviceReduce::Sum(memory, bytes, from, to, kN), cudaSuccess);
  EXPECT_EQ(*to, expected);
  EXPECT_EQ(cub::DeviceReduce::Max(memory, bytes, static_cast<double*>(doubles),
                                   static_cast<double*>(largest), kN),
            cudaSuccess);
  EXPECT_EQ(largest[0], -1.5);
  EXPECT_EQ(cub::DeviceReduce::Min(memory, bytes, from, to, kN), cudaSuccess);
  EXPECT_EQ(*to, -9);
  EXPECT_EQ(cub::DeviceScan::InclusiveSum(memory, bytes, from, to, kN), cudaSuccess);
  EXPECT_EQ(to[kN - 1], expected);
  EXPECT_EQ(cub::DeviceScan::ExclusiveSum(memory, bytes, from, to, kN), cudaSuccess);
  EXPECT_EQ(to[kN - 1], expected - number(kN - 1));
  EXPECT_EQ(cub::DeviceRadixSort::SortKeys(memory, bytes, from, to, kN), cudaSuccess);
  EXPECT_TRUE(std::is_sorted(to, to + kN));
  EXPECT_EQ(cub::DeviceRadixSort::SortPairsDescending(memory, bytes, from, to,
                                                      static_cast<const int*>(order),
                                                      static_cast<int*>(sorted_order), kN),
            cudaSuccess);
  for (int i = 0; i < kN; ++i) {
    EXPECT_EQ(to[i], number(sorted_order[i]));
    if (i > 0) EXPECT_GE(to[i - 1], to[i]);
  }
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

} // namespace
