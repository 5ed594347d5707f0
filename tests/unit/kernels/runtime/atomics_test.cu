// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Atomic functions: what each returns and stores, for each type, and that none loses an update when
// blocks on several OS threads meet at one address.
#include "tests/unit/kernels/runtime/executor_support.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <limits>
#include <set>

namespace kg::executor {
namespace {

using testing::Each;

// --- One call: old value returned, new value stored ---

enum class Op { add, sub, exchange, min, max, bit_and, bit_or, bit_xor };

template <class T>
struct Outcome {
  T returned, stored;
};

template <class T>
__global__ void apply(Op op, T start, T operand, Outcome<T>* out) {
  out->stored = start;
  T* address = &out->stored;
  T old{};
  if (op == Op::add) old = atomicAdd(address, operand);
  if (op == Op::exchange) old = atomicExch(address, operand);
  if constexpr (std::is_integral_v<T>) {
    if (op == Op::sub) old = atomicSub(address, operand);
    if (op == Op::min) old = atomicMin(address, operand);
    if (op == Op::max) old = atomicMax(address, operand);
    if (op == Op::bit_and) old = atomicAnd(address, operand);
    if (op == Op::bit_or) old = atomicOr(address, operand);
    if (op == Op::bit_xor) old = atomicXor(address, operand);
  }
  out->returned = old;
}

template <class T>
void expect_outcome(Op op, T start, T operand, T stored) {
  Outcome<T> out{};
  launch(apply<T>, {.grid = 1, .block = 1}, op, start, operand, &out);
  EXPECT_EQ(std::memcmp(&out.returned, &start, sizeof(T)), 0) << "op " << static_cast<int>(op);
  EXPECT_EQ(std::memcmp(&out.stored, &stored, sizeof(T)), 0) << "op " << static_cast<int>(op);
}

template <class T>
class AtomicInteger : public testing::Test {};
using IntegerTypes = testing::Types<int, unsigned, unsigned long long>;
TYPED_TEST_SUITE(AtomicInteger, IntegerTypes);

TYPED_TEST(AtomicInteger, EveryOperation) {
  using T = TypeParam;
  const T high = std::numeric_limits<T>::max();
  const T low = std::numeric_limits<T>::min();
  expect_outcome<T>(Op::add, 5, 7, 12);
  expect_outcome<T>(Op::add, high, 1, low); // wraps
  expect_outcome<T>(Op::sub, 5, 3, 2);
  expect_outcome<T>(Op::sub, low, 1, high);
  expect_outcome<T>(Op::exchange, 5, 9, 9);
  expect_outcome<T>(Op::min, 5, 3, 3);
  expect_outcome<T>(Op::min, 5, high, 5);
  expect_outcome<T>(Op::min, low, 5, low); // signed or not
  expect_outcome<T>(Op::max, 5, 8, 8);
  expect_outcome<T>(Op::max, high, 5, high);
  expect_outcome<T>(Op::max, low, 5, 5);
  expect_outcome<T>(Op::bit_and, 0x6c, 0x59, 0x48);
  expect_outcome<T>(Op::bit_or, 0x6c, 0x59, 0x7d);
  expect_outcome<T>(Op::bit_xor, 0x6c, 0x59, 0x35);
}

TEST(AtomicFloat, AddsAndExchanges) {
  expect_outcome(Op::add, 1.5f, 0.25f, 1.75f);
  expect_outcome(Op::add, 1.5, 0.25, 1.75);
  expect_outcome(Op::add, from_float<f16>(1.5f), from_float<f16>(0.25f), from_float<f16>(1.75f));
  expect_outcome(Op::add, from_float<bf16>(1.5f), from_float<bf16>(0.25f), from_float<bf16>(1.75f));
  expect_outcome(Op::exchange, 1.5f, -2.0f, -2.0f);
  // Rounds in the type itself: 2048 + 1 is no half.
  expect_outcome(Op::add, from_float<f16>(2048.0f), from_float<f16>(1.0f),
                 from_float<f16>(2048.0f));
}

template <class Pair>
__global__ void add_pair(Pair* address, Pair value, Pair* old) {
  *old = atomicAdd(address, value);
}

TEST(AtomicFloat, AddsPairs) {
  half2 sum = __floats2half2_rn(1.0f, 2.0f);
  half2 old{};
  launch(add_pair<half2>, {.grid = 1, .block = 1}, &sum, __floats2half2_rn(0.5f, 0.25f), &old);
  EXPECT_EQ(__low2float(sum), 1.5f);
  EXPECT_EQ(__high2float(sum), 2.25f);
  EXPECT_EQ(__low2float(old), 1.0f);

  __nv_bfloat162 bsum = __floats2bfloat162_rn(1.0f, 2.0f);
  __nv_bfloat162 bold{};
  launch(add_pair<__nv_bfloat162>, {.grid = 1, .block = 1}, &bsum,
         __floats2bfloat162_rn(0.5f, 0.25f), &bold);
  EXPECT_EQ(__low2float(bsum), 1.5f);
  EXPECT_EQ(__high2float(bsum), 2.25f);

  float2 fsum{1, 2};
  float2 fold{};
  launch(add_pair<float2>, {.grid = 1, .block = 1}, &fsum, float2{3, 4}, &fold);
  EXPECT_EQ(fsum.x, 4.0f);
  EXPECT_EQ(fsum.y, 6.0f);
  EXPECT_EQ(fold.y, 2.0f);
}

// Wraps to 0 after `limit`; counts down to 0, then back to `limit`.
__global__ void wrap(unsigned* value, unsigned limit, bool up, unsigned* old) {
  *old = up ? atomicInc(value, limit) : atomicDec(value, limit);
}

TEST(AtomicWrap, IncrementAndDecrement) {
  const auto after = [](unsigned start, unsigned limit, bool up) {
    unsigned value = start, old = 99;
    launch(wrap, {.grid = 1, .block = 1}, &value, limit, up, &old);
    EXPECT_EQ(old, start);
    return value;
  };
  EXPECT_EQ(after(0, 3, true), 1u);
  EXPECT_EQ(after(2, 3, true), 3u);
  EXPECT_EQ(after(3, 3, true), 0u);
  EXPECT_EQ(after(8, 3, true), 0u); // already beyond
  EXPECT_EQ(after(3, 3, false), 2u);
  EXPECT_EQ(after(1, 3, false), 0u);
  EXPECT_EQ(after(0, 3, false), 3u);
  EXPECT_EQ(after(8, 3, false), 3u);
}

template <class T>
__global__ void swap_if(T* address, T compare, T value, T* old) {
  *old = atomicCAS(address, compare, value);
}

template <class T>
void expect_compare_and_swap(T start, T other, T value) {
  T stored = start;
  T old{};
  launch(swap_if<T>, {.grid = 1, .block = 1}, &stored, other, value, &old);
  EXPECT_EQ(std::memcmp(&old, &start, sizeof(T)), 0);
  EXPECT_EQ(std::memcmp(&stored, &start, sizeof(T)), 0) << "compared unequal, yet stored";
  launch(swap_if<T>, {.grid = 1, .block = 1}, &stored, start, value, &old);
  EXPECT_EQ(std::memcmp(&old, &start, sizeof(T)), 0);
  EXPECT_EQ(std::memcmp(&stored, &value, sizeof(T)), 0) << "compared equal, yet not stored";
}

TEST(AtomicCompareAndSwap, ComparesBits) {
  expect_compare_and_swap<int>(5, 6, 7);
  expect_compare_and_swap<unsigned>(5, 6, 7);
  expect_compare_and_swap<unsigned short>(5, 6, 7);
  expect_compare_and_swap<unsigned long long>(1ull << 40, 0, 7);
  expect_compare_and_swap<float>(std::nanf(""), 1.0f, 2.0f); // NaN equals itself
  expect_compare_and_swap<float>(0.0f, -0.0f, 2.0f);         // and 0 is not -0
}

// The _block and _system forms.
__global__ void scoped_forms(unsigned* out) {
  unsigned results[] = {10, 10, 10, 10, 10, 12, 12, 12, 10, 10, 10, 10};
  atomicAdd_block(&results[0], 3);
  atomicSub_system(&results[1], 3);
  atomicExch_block(&results[2], 3);
  atomicMin_system(&results[3], 3);
  atomicMax_block(&results[4], 13);
  atomicAnd_system(&results[5], 6);
  atomicOr_block(&results[6], 3);
  atomicXor_system(&results[7], 5);
  atomicCAS_block(&results[8], 10u, 4u);
  atomicInc_block(&results[9], 10);
  atomicDec_system(&results[10], 5);
  atomicAdd_system(&results[11], 1);
  for (int i = 0; i < 12; ++i) out[i] = results[i];
}

TEST(AtomicScopes, DoTheSame) {
  const auto out = filled<unsigned>(12, [](unsigned* data, Stream& stream) {
    launch(scoped_forms, {.grid = 1, .block = 1, .stream = &stream}, data);
  });
  EXPECT_THAT(out, testing::ElementsAre(13, 7, 3, 3, 13, 4, 15, 9, 4, 0, 5, 11));
}

// --- Contention ---

// Every thread of the grid at the same addresses.
struct Totals {
  int integer;
  unsigned wide_min, wide_max, wrapped;
  unsigned long long big;
  float single;
  double twice;
  f16 half;
  bf16 brain;
  unsigned next_ticket;
};

__global__ void contend(Totals* totals, unsigned* tickets) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned n = gridDim.x * blockDim.x;
  for (int i = 0; i < 8; ++i) {
    atomicAdd(&totals->integer, -1);
    atomicAdd(&totals->big, 1ull << 33);
    atomicAdd(&totals->single, 1.0f);
    atomicAdd(&totals->twice, 0.5);
    atomicInc(&totals->wrapped, 999);
  }
  atomicMin(&totals->wide_min, n - id);
  atomicMax(&totals->wide_max, id);
  if (id < 256) atomicAdd(&totals->half, from_float<f16>(1.0f));
  if (id % 64 == 0) atomicAdd(&totals->brain, from_float<bf16>(1.0f));
  tickets[id] = atomicAdd(&totals->next_ticket, 1);
}

TEST(AtomicContention, NoUpdateIsLost) {
  constexpr unsigned kBlocks = 64, kThreads = 256, kAll = kBlocks * kThreads;
  for (int round = 0; round < 4; ++round) {
    const ScopedSchedule scope({.workers = 2});
    Totals totals{};
    totals.wide_min = ~0u;
    std::vector<unsigned> tickets(kAll);
    launch(contend, {.grid = kBlocks, .block = kThreads}, &totals, tickets.data());
    EXPECT_EQ(totals.integer, -8 * static_cast<int>(kAll));
    EXPECT_EQ(totals.big, (8ull * kAll) << 33);
    EXPECT_EQ(totals.single, 8.0f * kAll); // exact: below 2^24
    EXPECT_EQ(totals.twice, 4.0 * kAll);
    EXPECT_EQ(totals.wrapped, 8 * kAll % 1000);
    EXPECT_EQ(totals.wide_min, 1u);
    EXPECT_EQ(totals.wide_max, kAll - 1);
    EXPECT_EQ(to_float(totals.half), 256.0f);
    EXPECT_EQ(to_float(totals.brain), 256.0f);
    EXPECT_EQ(std::set<unsigned>(tickets.begin(), tickets.end()).size(), kAll);
  }
}

// A spin lock: mutual exclusion between blocks, and the unlocked value seen by the next holder.
__global__ void count_under_lock(unsigned* lock, unsigned* counter) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 50; ++i) {
    while (atomicCAS(lock, 0u, 1u) != 0) __nanosleep(20);
    const unsigned value = *static_cast<volatile unsigned*>(counter);
    *static_cast<volatile unsigned*>(counter) = value + 1;
    __threadfence();
    atomicExch(lock, 0u);
  }
}

TEST(AtomicContention, SpinLockExcludes) {
  for (int workers : {1, 2}) {
    const ScopedSchedule scope({.workers = workers});
    unsigned lock = 0, counter = 0;
    launch(count_under_lock, {.grid = 100, .block = 32}, &lock, &counter);
    EXPECT_EQ(counter, 5000u);
  }
}

// Within a block no order of threads may lose an update either.
__global__ void histogram(const unsigned char* data, unsigned* bins) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&local[data[blockIdx.x * blockDim.x + threadIdx.x] % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

TEST(AtomicContention, HistogramInSharedMemory) {
  std::vector<unsigned char> data(40 * 128);
  std::vector<unsigned> expected(16);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<unsigned char>(i * i % 251);
    ++expected[data[i] % 16];
  }
  under_every_order([&] {
    std::vector<unsigned> bins(16);
    launch(histogram, {.grid = 40, .block = 128}, data.data(), bins.data());
    EXPECT_EQ(bins, expected);
  });
}

// --- Loads and stores with cache hints ---

__global__ void hinted(const float4* in, float4* out) {
  out[0] = __ldg(&in[0]);
  __stcs(&out[1], __ldcs(&in[1]));
  __stcg(&out[2], __ldcg(&in[2]));
  __stwb(&out[3], __ldca(&in[3]));
  __stwt(&out[4], __ldcv(&in[4]));
  out[5] = __ldlu(&in[5]);
}

TEST(CacheHints, MoveTheValue) {
  std::vector<float4> in(6);
  for (int i = 0; i < 6; ++i) {
    const auto f = static_cast<float>(i);
    in[static_cast<std::size_t>(i)] = {f, f + 0.25f, f + 0.5f, f + 0.75f};
  }
  const auto out = filled<float4>(6, [&](float4* data, Stream& stream) {
    launch(hinted, {.grid = 1, .block = 1, .stream = &stream}, in.data(), data);
  });
  EXPECT_EQ(std::memcmp(out.data(), in.data(), sizeof(float4) * 6), 0);
}

} // namespace
} // namespace kg::executor
