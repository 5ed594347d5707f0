// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Atomic updates as kernels use them: sums of every floating-point type, operations that a
// compare-and-swap loop makes, tickets, flags and locks. Sums of small integers: exact in every
// order and every type.
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kg::idioms {
namespace {

// --- Sums ---

constexpr unsigned kAdders = 96;

// Thread i adds i % 3, so that even bfloat16, exact up to 256, holds the sum.
template <class T>
__global__ void add_floats(T* sum) {
  atomicAdd(sum, from_float<T>(static_cast<float>(threadIdx.x % 3)));
}
template <>
__global__ void add_floats<double>(double* sum) {
  atomicAdd(sum, threadIdx.x % 3 + 0x1p-40);
}

template <class T>
T summed(Stream& stream) {
  const auto sum = zeros<T>(1, stream);
  launch(add_floats<T>, {.grid = 2, .block = kAdders, .stream = &stream}, sum.data());
  return on_host(sum, stream)[0];
}

TEST(AtomicSum, OfEveryFloatingPointType) {
  under_thread_orders([](Stream& stream) {
    EXPECT_EQ(summed<float>(stream), 192);
    EXPECT_EQ(__half2float(summed<f16>(stream)), 192);
    EXPECT_EQ(__bfloat162float(summed<bf16>(stream)), 192);
    EXPECT_EQ(summed<double>(stream), 192 + 192 * 0x1p-40);
  });
}

__global__ void add_pairs(__half2* halves, __nv_bfloat162* brains) {
  const float t = static_cast<float>(threadIdx.x % 3);
  atomicAdd(halves, __floats2half2_rn(t, -2 * t));
  atomicAdd(brains, __floats2bfloat162_rn(1, t));
}

TEST(AtomicSum, OfPairs) {
  under_thread_orders([](Stream& stream) {
    const auto halves = zeros<f16>(2, stream);
    const auto brains = zeros<bf16>(2, stream);
    launch(add_pairs, {.grid = 1, .block = kAdders, .stream = &stream},
           reinterpret_cast<__half2*>(halves.data()),
           reinterpret_cast<__nv_bfloat162*>(brains.data()));
    const auto h = on_host(halves, stream);
    const auto b = on_host(brains, stream);
    EXPECT_EQ(to_float(h[0]), 96);
    EXPECT_EQ(to_float(h[1]), -192);
    EXPECT_EQ(to_float(b[0]), 96);
    EXPECT_EQ(to_float(b[1]), 96);
  });
}

// --- What compare-and-swap makes ---

__device__ float atomic_max_by_swap(float* address, float value) {
  int* word = reinterpret_cast<int*>(address);
  int old = *word;
  int assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value) break;
    old = atomicCAS(word, assumed, __float_as_int(value));
  } while (assumed != old);
  return __int_as_float(old);
}

// Floats of one sign are ordered as their bits are.
__device__ void atomic_max_by_bits(float* address, float value) {
  if (value >= 0) {
    atomicMax(reinterpret_cast<int*>(address), __float_as_int(value));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(address), __float_as_uint(value));
  }
}

__device__ double atomic_multiply(double* address, double factor) {
  auto* word = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *word;
  unsigned long long assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed,
                    static_cast<unsigned long long>(__double_as_longlong(
                        factor * __longlong_as_double(static_cast<long long>(assumed)))));
  } while (assumed != old);
  return __longlong_as_double(static_cast<long long>(old));
}

// A byte within a word.
__device__ void atomic_add_byte(unsigned char* address, unsigned char value) {
  const auto offset = reinterpret_cast<std::size_t>(address) & 3;
  auto* word = reinterpret_cast<unsigned*>(address - offset);
  const unsigned shift = static_cast<unsigned>(offset) * 8;
  unsigned old = *word;
  unsigned assumed;
  do {
    assumed = old;
    const unsigned sum = ((old >> shift) + value) & 0xff;
    old = atomicCAS(word, assumed, (old & ~(0xffu << shift)) | sum << shift);
  } while (assumed != old);
}

struct Results {
  float largest_by_swap, largest_by_bits;
  double product;
  unsigned char bytes[8];
};

__global__ void update_by_swap(const float* in, Results* results) {
  const unsigned t = threadIdx.x;
  atomic_max_by_swap(&results->largest_by_swap, in[t]);
  atomic_max_by_bits(&results->largest_by_bits, in[t]);
  atomic_multiply(&results->product, t % 4 == 0 ? 2 : t % 4 == 1 ? 0.25 : 1);
  atomic_add_byte(&results->bytes[t % 7], static_cast<unsigned char>(t));
}

TEST(CompareAndSwap, MakesAnyUpdate) {
  under_thread_orders([](Stream& stream) {
    for (float offset : {0.0f, -100.0f}) { // of mixed sign, and all below zero
      auto values = normals(128);
      for (float& v : values) v += offset;
      Results start{-INFINITY, -INFINITY, 1, {}};
      const auto in = on_device(values, stream);
      const auto results = on_device(std::vector<Results>{start}, stream);
      launch(update_by_swap, {.grid = 1, .block = 128, .stream = &stream}, in.data(),
             results.data());
      const Results got = on_host(results, stream)[0];
      const float largest = *std::max_element(values.begin(), values.end());
      EXPECT_EQ(got.largest_by_swap, largest);
      EXPECT_EQ(got.largest_by_bits, largest);
      EXPECT_EQ(got.product, 0x1p-32);
      for (unsigned b = 0; b < 8; ++b) {
        unsigned sum = 0;
        for (unsigned t = b; t < 128 && b < 7; t += 7) sum += t;
        EXPECT_EQ(got.bytes[b], sum & 0xff);
      }
    }
  });
}

// --- Tickets, flags, locks ---

// Work is taken from a counter until there is none.
__global__ void take_tickets(unsigned* counter, unsigned n, unsigned* taken) {
  for (;;) {
    const unsigned ticket = atomicAdd(counter, 1u);
    if (ticket >= n) return;
    atomicAdd(&taken[ticket], 1u);
  }
}

TEST(Tickets, AreTakenOnce) {
  under_thread_orders([](Stream& stream) {
    const auto counter = zeros<unsigned>(1, stream);
    const auto taken = zeros<unsigned>(1000, stream);
    launch(take_tickets, {.grid = 4, .block = 64, .stream = &stream}, counter.data(), 1000u,
           taken.data());
    EXPECT_EQ(on_host(taken, stream), std::vector<unsigned>(1000, 1));
    EXPECT_EQ(on_host(counter, stream)[0], 1000u + 4 * 64);
  });
}

class SpinLock {
 public:
  __device__ explicit SpinLock(int* word) : word_(word) {
    unsigned wait = 8;
    while (atomicCAS(word_, 0, 1) != 0) {
      __nanosleep(wait);
      if (wait < 256) wait *= 2;
    }
    __threadfence();
  }
  __device__ ~SpinLock() {
    __threadfence();
    atomicExch(word_, 0);
  }

 private:
  int* word_;
};

// Two values that belong together.
__global__ void count_under_lock(int* lock, volatile int* pair) {
  for (int i = 0; i < 3; ++i) {
    const SpinLock guard(lock);
    const int before = pair[0];
    __nanosleep(1); // time for others to come in
    pair[1] = pair[1] + before;
    pair[0] = before + 1;
  }
}

TEST(Lock, Excludes) {
  under_thread_orders([](Stream& stream) {
    const auto lock = zeros<int>(1, stream);
    const auto pair = zeros<int>(2, stream);
    launch(count_under_lock, {.grid = 2, .block = 64, .stream = &stream}, lock.data(), pair.data());
    constexpr int kTurns = 2 * 64 * 3;
    EXPECT_EQ(on_host(pair, stream), (std::vector<int>{kTurns, kTurns * (kTurns - 1) / 2}));
  });
}

// A block publishes data, then a flag; the next one waits for it.
__global__ void pass_along(int* data, int* flags) {
  if (threadIdx.x == 0) {
    int received = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) __nanosleep(16);
      __threadfence();
      received = __ldcg(&data[blockIdx.x - 1]);
    }
    __stcg(&data[blockIdx.x], received + static_cast<int>(blockIdx.x) + 1);
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1);
  }
}

TEST(Flags, PassDataFromBlockToBlock) {
  under_thread_orders([](Stream& stream) {
    const auto data = zeros<int>(20, stream);
    const auto flags = zeros<int>(20, stream);
    launch(pass_along, {.grid = 20, .block = 32, .stream = &stream}, data.data(), flags.data());
    EXPECT_EQ(on_host(data, stream)[19], 210);
  });
}

// An index is inserted where a linear probe finds a free or equal slot.
constexpr unsigned kEmpty = 0xffffffffu;
constexpr unsigned kSlots = 1024;

__global__ void insert_keys(const unsigned* keys, unsigned* table, unsigned* counts) {
  const unsigned key = keys[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned slot = key * 2654435761u % kSlots;; slot = (slot + 1) % kSlots) {
    const unsigned seen = atomicCAS(&table[slot], kEmpty, key);
    if (seen == kEmpty || seen == key) {
      atomicAdd(&counts[slot], 1u);
      return;
    }
  }
}

TEST(HashTable, CountsItsKeys) {
  under_thread_orders([](Stream& stream) {
    const auto keys = integers<unsigned>(512, 0, 180);
    const auto in = on_device(keys, stream);
    const auto table = on_device(std::vector<unsigned>(kSlots, kEmpty), stream);
    const auto counts = zeros<unsigned>(kSlots, stream);
    launch(insert_keys, {.grid = 4, .block = 128, .stream = &stream}, in.data(), table.data(),
           counts.data());
    const auto slots = on_host(table, stream);
    const auto numbers = on_host(counts, stream);
    for (unsigned key = 0; key <= 180; ++key) {
      const auto expected = std::count(keys.begin(), keys.end(), key);
      long total = 0;
      for (unsigned s = 0; s < kSlots; ++s) {
        if (slots[s] == key) total += numbers[s];
      }
      EXPECT_EQ(total, expected) << "key " << key;
      EXPECT_LE(std::count(slots.begin(), slots.end(), key), 1);
    }
  });
}

} // namespace
} // namespace kg::idioms
