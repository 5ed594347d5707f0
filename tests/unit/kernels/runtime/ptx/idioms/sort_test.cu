// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorting networks and their kin: bitonic sort within a warp, a block and a grid, odd-even merging,
// and a radix sort's split.
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <algorithm>
#include <functional>

namespace kg::idioms {
namespace {

// Of two lanes, the lower keeps the smaller value when the run ascends.
__global__ void bitonic_warp(int* data) {
  const unsigned lane = threadIdx.x % 32;
  int value = data[threadIdx.x];
  for (unsigned run = 2; run <= 32; run *= 2) {
    for (unsigned step = run / 2; step > 0; step /= 2) {
      const int other = __shfl_xor_sync(0xffffffffu, value, static_cast<int>(step));
      const bool ascending = (lane & run) == 0;
      const bool lower = (lane & step) == 0;
      value = ascending == lower ? min(value, other) : max(value, other);
    }
  }
  data[threadIdx.x] = value;
}

template <class T>
__device__ void exchange_if(T& a, T& b, bool ascending) {
  if ((a > b) == ascending) {
    const T t = a;
    a = b;
    b = t;
  }
}

// Keys with their values, two of each per thread.
__global__ void bitonic_block(unsigned* keys, unsigned* values, unsigned n) {
  unsigned* k = dynamic_shared<unsigned>();
  unsigned* v = k + n; // the second array of the same memory
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    k[i] = keys[i];
    v[i] = values[i];
  }
  for (unsigned run = 2; run <= n; run <<= 1) {
    for (unsigned step = run >> 1; step > 0; step >>= 1) {
      __syncthreads();
      const unsigned i = 2 * threadIdx.x - (threadIdx.x & (step - 1));
      const bool ascending = (i & run) == 0;
      if ((k[i] > k[i + step]) == ascending) {
        const unsigned key = k[i];
        k[i] = k[i + step];
        k[i + step] = key;
        const unsigned value = v[i];
        v[i] = v[i + step];
        v[i + step] = value;
      }
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    keys[i] = k[i];
    values[i] = v[i];
  }
}

// One step of the network over global memory per launch.
template <class T>
__global__ void bitonic_step(T* data, unsigned run, unsigned step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned other = i ^ step;
  if (other > i) exchange_if(data[i], data[other], (i & run) == 0);
}

TEST(BitonicSort, OfAWarp) {
  under_thread_orders([](Stream& stream) {
    auto values = integers<int>(64, -1000, 1000);
    const auto data = on_device(values, stream);
    launch(bitonic_warp, {.grid = 1, .block = 64, .stream = &stream}, data.data());
    std::sort(values.begin(), values.begin() + 32);
    std::sort(values.begin() + 32, values.end());
    EXPECT_EQ(on_host(data, stream), values);
  });
}

TEST(BitonicSort, OfABlockCarriesValues) {
  under_thread_orders([](Stream& stream) {
    constexpr unsigned kN = 512;
    const auto keys = integers<unsigned>(kN, 0, 300); // some are equal
    std::vector<unsigned> places(kN);
    for (unsigned i = 0; i < kN; ++i) places[i] = i;
    const auto k = on_device(keys, stream);
    const auto v = on_device(places, stream);
    launch(bitonic_block, {.grid = 1, .block = kN / 2, .shared_bytes = 8 * kN, .stream = &stream},
           k.data(), v.data(), kN);
    auto expected = keys;
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(on_host(k, stream), expected);
    auto order = on_host(v, stream);
    for (unsigned i = 0; i < kN; ++i) ASSERT_EQ(keys[order[i]], expected[i]);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, places); // each once
  });
}

TEST(BitonicSort, OfAGrid) {
  under_thread_orders([](Stream& stream) {
    constexpr unsigned kN = 2048;
    auto values = normals(kN);
    const auto data = on_device(values, stream);
    for (unsigned run = 2; run <= kN; run *= 2) {
      for (unsigned step = run / 2; step > 0; step /= 2) {
        launch(bitonic_step<float>, {.grid = kN / 256, .block = 256, .stream = &stream},
               data.data(), run, step);
      }
    }
    std::sort(values.begin(), values.end());
    EXPECT_EQ(on_host(data, stream), values);
  });
}

// --- Radix sort: for each bit, zeros keep their order before ones ---

__global__ void radix_block(unsigned* data, unsigned bits) {
  __shared__ unsigned keys[256];
  __shared__ unsigned zeros_by_warp[8];
  const unsigned t = threadIdx.x;
  const unsigned lane = t & 31;
  unsigned key = data[t];
  for (unsigned bit = 0; bit < bits; ++bit) {
    const bool one = key >> bit & 1;
    const unsigned zeros_here = __ballot_sync(0xffffffffu, !one);
    if (lane == 0) zeros_by_warp[t / 32] = static_cast<unsigned>(__popc(zeros_here));
    const unsigned total = static_cast<unsigned>(__syncthreads_count(!one));
    unsigned before = static_cast<unsigned>(__popc(zeros_here & ((1u << lane) - 1)));
    for (unsigned w = 0; w < t / 32; ++w) before += zeros_by_warp[w];
    keys[one ? total + t - before : before] = key;
    __syncthreads();
    key = keys[t]; // read before the next bit's count, which is a barrier
  }
  data[t] = key;
}

TEST(RadixSort, OfABlock) {
  under_thread_orders([](Stream& stream) {
    auto values = integers<unsigned>(256, 0, 4095);
    const auto data = on_device(values, stream);
    launch(radix_block, {.grid = 1, .block = 256, .stream = &stream}, data.data(), 12u);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(on_host(data, stream), values);
  });
}

// --- Merge path: each thread finds its share of two sorted lists by bisection ---

__device__ unsigned merge_path(const int* a, unsigned a_size, const int* b, unsigned b_size,
                               unsigned diagonal) {
  unsigned low = diagonal > b_size ? diagonal - b_size : 0;
  unsigned high = min(diagonal, a_size);
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__global__ void merge_lists(const int* a, unsigned a_size, const int* b, unsigned b_size, int* out,
                            unsigned share) {
  const unsigned n = a_size + b_size;
  const unsigned first = min((blockIdx.x * blockDim.x + threadIdx.x) * share, n);
  unsigned i = merge_path(a, a_size, b, b_size, first);
  unsigned j = first - i;
  for (unsigned k = first; k < min(first + share, n); ++k) {
    const bool from_a = j >= b_size || (i < a_size && a[i] <= b[j]);
    out[k] = from_a ? a[i++] : b[j++];
  }
}

TEST(Merge, BySharesOfTheDiagonal) {
  under_thread_orders([](Stream& stream) {
    auto a = integers<int>(301, -100, 100, 1);
    auto b = integers<int>(150, -100, 100, 2);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<int> expected(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
    const auto da = on_device(a, stream);
    const auto db = on_device(b, stream);
    DeviceBuffer<int> out(expected.size());
    launch(merge_lists, {.grid = 2, .block = 64, .stream = &stream}, da.data(), 301u, db.data(),
           150u, out.data(), 4u);
    EXPECT_EQ(on_host(out, stream), expected);
  });
}

} // namespace
} // namespace kg::idioms
