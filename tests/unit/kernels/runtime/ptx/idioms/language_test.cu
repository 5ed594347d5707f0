// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The language of kernels: memory spaces, templates, functors and lambdas, recursion, local arrays,
// several arrays in one dynamic shared memory, loops over a grid, printing and clocks.
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <algorithm>
#include <sstream>
#include <string>

namespace kg::idioms {
namespace {

// --- Memory spaces ---

__constant__ float coefficients[4] = {1, -2, 3, 0.5f};
__constant__ int from_host[3];
__device__ unsigned launches = 0;
__device__ int table[64];
__device__ const int kPrimes[] = {2, 3, 5, 7, 11};

__global__ void fill_table() {
  table[threadIdx.x] = kPrimes[threadIdx.x % 5] * static_cast<int>(threadIdx.x);
  if (threadIdx.x == 0) ++launches;
}

__global__ void use_globals(const float* x, float* y, int* copied, unsigned* count) {
  const unsigned i = threadIdx.x;
  float value = 0; // Horner
  for (int k = 3; k >= 0; --k) value = value * x[i] + coefficients[k];
  y[i] = value;
  copied[i] = table[i] + from_host[i % 3];
  if (i == 0) *count = launches;
}

TEST(MemorySpaces, ConstantAndDevice) {
  unsigned before = 0;
  for (int round = 0; round < 2; ++round) {
    under_thread_orders([&](Stream& stream) {
      const auto values = integers<float>(64, -8, 8);
      const auto x = on_device(values, stream);
      DeviceBuffer<float> y(64);
      DeviceBuffer<int> copied(64);
      DeviceBuffer<unsigned> count(1);
      const int constants[3] = {round, 100, -7};
      copy_to_device(symbol_address(from_host), constants, sizeof(constants), stream);
      launch(fill_table, {.grid = 1, .block = 64, .stream = &stream});
      launch(use_globals, {.grid = 1, .block = 64, .stream = &stream}, x.data(), y.data(),
             copied.data(), count.data());
      const auto got = on_host(y, stream);
      const auto sums = on_host(copied, stream);
      constexpr int kFive[] = {2, 3, 5, 7, 11};
      for (std::size_t i = 0; i < 64; ++i) {
        const float v = values[i];
        EXPECT_EQ(got[i], 1 - 2 * v + 3 * v * v + 0.5f * v * v * v);
        EXPECT_EQ(sums[i], kFive[i % 5] * static_cast<int>(i) + constants[i % 3]);
      }
      EXPECT_EQ(on_host(count, stream)[0], ++before); // it lives on between launches
    });
  }
}

// --- Templates, functors, lambdas ---

struct Scale {
  float factor;
  __host__ __device__ float operator()(float x) const { return factor * x; }
};
struct Clamp {
  float low, high;
  __host__ __device__ float operator()(float x) const { return fminf(fmaxf(x, low), high); }
};

// A grid-stride loop: any grid covers any n.
template <int Unroll, bool Reverse, class Function>
__global__ void transform(const float* __restrict__ in, float* __restrict__ out, int n,
                          Function function) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x) * Unroll;
  const auto index = [=](int i) { // a lambda of the kernel's own
    if constexpr (Reverse) return n - 1 - i;
    return i;
  };
  for (int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * Unroll; first < n;
       first += stride) {
    KG_UNROLL
    for (int k = 0; k < Unroll; ++k) {
      if (first + k < n) out[index(first + k)] = function(in[first + k]);
    }
  }
}

TEST(Templates, OfKernels) {
  under_thread_orders([](Stream& stream) {
    constexpr int kN = 1003;
    const auto values = integers<float>(kN, -100, 100);
    const auto in = on_device(values, stream);
    const auto check = [&](auto kernel, auto function, bool reverse) {
      auto expected = values;
      std::transform(values.begin(), values.end(), expected.begin(), function);
      if (reverse) std::reverse(expected.begin(), expected.end());
      for (unsigned grid : {1u, 3u, 40u}) {
        DeviceBuffer<float> out(kN);
        launch(kernel, {.grid = grid, .block = 64, .stream = &stream}, in.data(), out.data(), kN,
               function);
        EXPECT_EQ(on_host(out, stream), expected) << grid << " blocks";
      }
    };
    check(transform<1, false, Scale>, Scale{2}, false);
    check(transform<4, false, Scale>, Scale{-0.5f}, false);
    check(transform<4, true, Clamp>, Clamp{-10, 20}, true);
  });
}

// A table of functions, chosen on the device.
using Binary = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Binary operations[] = {add, multiply};

__global__ void call_through_table(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = operations[i % 2](i, 10);
}

TEST(FunctionPointers, InDeviceMemory) {
  under_thread_orders([](Stream& stream) {
    DeviceBuffer<int> out(32);
    launch(call_through_table, {.grid = 1, .block = 32, .stream = &stream}, out.data());
    const auto got = on_host(out, stream);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(got[static_cast<std::size_t>(i)], i % 2 == 0 ? i + 10 : i * 10);
  });
}

// --- Recursion and local arrays ---

__device__ long long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

// Permutations of the digits below n in the order of Heap's algorithm; counts those that keep no
// digit in place.
__device__ int derangements(int* digits, int size, int n) {
  if (size == 1) {
    for (int i = 0; i < n; ++i) {
      if (digits[i] == i) return 0;
    }
    return 1;
  }
  int found = 0;
  for (int i = 0; i < size; ++i) {
    found += derangements(digits, size - 1, n);
    const int swap = size % 2 != 0 ? 0 : i;
    const int kept = digits[swap];
    digits[swap] = digits[size - 1];
    digits[size - 1] = kept;
  }
  return found;
}

__global__ void recurse(long long* numbers, int* counts) {
  const int i = static_cast<int>(threadIdx.x);
  numbers[i] = fibonacci(i % 16);
  __syncthreads();
  int digits[7];
  const int n = 2 + i % 6;
  for (int k = 0; k < n; ++k) digits[k] = k;
  counts[i] = derangements(digits, n, n);
}

TEST(Recursion, OnLocalArrays) {
  constexpr long long kFibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};
  constexpr int kDerangements[] = {1, 2, 9, 44, 265, 1854}; // of 2 to 7 digits, OEIS A000166
  under_thread_orders([&](Stream& stream) {
    DeviceBuffer<long long> numbers(64);
    DeviceBuffer<int> counts(64);
    launch(recurse, {.grid = 1, .block = 64, .stream = &stream}, numbers.data(), counts.data());
    const auto got = on_host(numbers, stream);
    const auto counted = on_host(counts, stream);
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(got[i], kFibonacci[i % 16]);
      EXPECT_EQ(counted[i], kDerangements[i % 6]);
    }
  });
}

// --- Several arrays in one dynamic shared memory ---

// doubles first, then floats, then bytes: each aligned, since the sizes fall.
__global__ void carve_up(double* d_out, float* f_out, unsigned char* b_out) {
  const unsigned n = blockDim.x;
  unsigned char* memory = dynamic_shared<unsigned char>();
  auto* doubles = reinterpret_cast<double*>(memory);
  auto* floats = reinterpret_cast<float*>(&doubles[n]);
  auto* bytes = reinterpret_cast<unsigned char*>(&floats[n]);
  const unsigned i = threadIdx.x;
  doubles[i] = i + 0.25;
  floats[i] = static_cast<float>(2 * i);
  bytes[i] = static_cast<unsigned char>(i);
  __syncthreads();
  d_out[i] = doubles[n - 1 - i];
  f_out[i] = floats[n - 1 - i];
  b_out[i] = bytes[n - 1 - i];
}

TEST(DynamicShared, HoldsSeveralArrays) {
  under_thread_orders([](Stream& stream) {
    constexpr unsigned kN = 100;
    DeviceBuffer<double> doubles(kN);
    DeviceBuffer<float> floats(kN);
    DeviceBuffer<unsigned char> bytes(kN);
    launch(carve_up, {.grid = 1, .block = kN, .shared_bytes = kN * 13, .stream = &stream},
           doubles.data(), floats.data(), bytes.data());
    const auto d = on_host(doubles, stream);
    const auto f = on_host(floats, stream);
    const auto b = on_host(bytes, stream);
    for (unsigned i = 0; i < kN; ++i) {
      const unsigned from = kN - 1 - i;
      EXPECT_EQ(d[i], from + 0.25);
      EXPECT_EQ(f[i], 2 * from);
      EXPECT_EQ(b[i], from);
    }
  });
}

// --- Printing, clocks ---

__global__ void print_places(int limit) {
  if (threadIdx.x < static_cast<unsigned>(limit))
    printf("block %u thread %u: %.2f %s\n", blockIdx.x, threadIdx.x, threadIdx.x * 0.5, "ok");
}

TEST(Printing, FromKernels) {
  under_thread_orders([](Stream& stream) {
    testing::internal::CaptureStdout();
    launch(print_places, {.grid = 2, .block = 64, .stream = &stream}, 2);
    stream.synchronize();
    fflush(stdout);
    std::istringstream text(testing::internal::GetCapturedStdout());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(lines,
              (std::vector<std::string>{"block 0 thread 0: 0.00 ok", "block 0 thread 1: 0.50 ok",
                                        "block 1 thread 0: 0.00 ok", "block 1 thread 1: 0.50 ok"}));
  });
}

__global__ void wait_by_clock(long long ticks, long long* waited) {
  const long long start = clock64();
  while (clock64() - start < ticks) {
  }
  waited[threadIdx.x] = clock64() - start;
}

TEST(Clock, Advances) {
  under_thread_orders([](Stream& stream) {
    DeviceBuffer<long long> waited(4);
    launch(wait_by_clock, {.grid = 1, .block = 4, .stream = &stream}, 2000LL, waited.data());
    for (long long ticks : on_host(waited, stream)) EXPECT_GE(ticks, 2000);
  });
}

} // namespace
} // namespace kg::idioms
