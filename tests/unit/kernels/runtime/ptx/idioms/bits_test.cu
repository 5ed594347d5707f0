// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bits: the integer intrinsics in the uses that kernels have for them, floats taken apart, 64-bit
// values through shuffles, one memory seen as two types, loads and stores with cache hints.
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace kg::idioms {
namespace {

// --- Integers ---

struct Bits {
  int set, first, leading, set64, first64, leading64;
  unsigned reversed, rotated, shifted, permuted, high;
};

__global__ void take_apart(const unsigned* in, Bits* out) {
  const unsigned i = threadIdx.x;
  const unsigned a = in[i];
  const unsigned b = in[i ^ 1];
  const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  Bits& o = out[i];
  o.set = __popc(a);
  o.first = __ffs(static_cast<int>(a));
  o.leading = __clz(static_cast<int>(a));
  o.set64 = __popcll(both);
  o.first64 = __ffsll(static_cast<long long>(both & ~0xffffULL));
  o.leading64 = __clzll(static_cast<long long>(both >> 7));
  o.reversed = __brev(a);
  o.rotated = __funnelshift_l(a, a, i);
  o.shifted = __funnelshift_r(a, b, i);
  o.permuted = __byte_perm(a, b, 0x3254);
  o.high = __umulhi(a, b);
}

TEST(Integers, TakenApart) {
  under_thread_orders([](Stream& stream) {
    std::vector<unsigned> values;
    for (unsigned v : integers<unsigned>(64, 0, 0x7fffffff)) values.push_back(v * 2654435761u);
    values[0] = 0;
    values[2] = 0xffffffff;
    const auto in = on_device(values, stream);
    DeviceBuffer<Bits> out(64);
    launch(take_apart, {.grid = 1, .block = 64, .stream = &stream}, in.data(), out.data());
    const auto got = on_host(out, stream);
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned a = values[i];
      const unsigned b = values[i ^ 1];
      const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
      const std::uint64_t upper = both & ~std::uint64_t{0xffff};
      unsigned reversed = 0;
      for (unsigned k = 0; k < 32; ++k) reversed |= (a >> k & 1) << (31 - k);
      EXPECT_EQ(got[i].set, std::popcount(a));
      EXPECT_EQ(got[i].first, a == 0 ? 0 : std::countr_zero(a) + 1);
      EXPECT_EQ(got[i].leading, std::countl_zero(a));
      EXPECT_EQ(got[i].set64, std::popcount(both));
      EXPECT_EQ(got[i].first64, upper == 0 ? 0 : std::countr_zero(upper) + 1);
      EXPECT_EQ(got[i].leading64, std::countl_zero(both >> 7));
      EXPECT_EQ(got[i].reversed, reversed);
      EXPECT_EQ(got[i].rotated, std::rotl(a, static_cast<int>(i % 32)));
      EXPECT_EQ(got[i].shifted, static_cast<unsigned>(both >> i % 32));
      EXPECT_EQ(got[i].permuted, (a & 0xffff0000u) | (b & 0xffffu));
      EXPECT_EQ(got[i].high, static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32));
    }
  });
}

// Four bytes in one word: sums of absolute differences and dot products of quantised values.
__global__ void quantised(const int* a, const int* b, int* out) {
  int sum = 0;
  for (unsigned i = threadIdx.x; i < 256; i += 32) sum = __dp4a(a[i], b[i], sum);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) *out = sum;
}

TEST(Integers, DotProductsOfBytes) {
  under_thread_orders([](Stream& stream) {
    const auto a = integers<signed char>(1024, -128, 127, 1);
    const auto b = integers<signed char>(1024, -128, 127, 2);
    int expected = 0;
    for (std::size_t i = 0; i < 1024; ++i) expected += a[i] * b[i];
    const auto da = on_device(a, stream);
    const auto db = on_device(b, stream);
    DeviceBuffer<int> out(1);
    launch(quantised, {.grid = 1, .block = 32, .stream = &stream},
           reinterpret_cast<const int*>(da.data()), reinterpret_cast<const int*>(db.data()),
           out.data());
    EXPECT_EQ(on_host(out, stream)[0], expected);
  });
}

// --- Floats ---

// 2^x by the exponent's bits and a polynomial's remainder left out: exact for integers.
__device__ float power_of_two(int exponent) { return __int_as_float((exponent + 127) << 23); }

// The next float above, by the bits; and a key whose order as an unsigned is the float's.
__device__ float next_above(float x) {
  const int bits = __float_as_int(x);
  return __int_as_float(bits >= 0 ? bits + 1 : bits - 1);
}
__device__ unsigned sort_key(float x) {
  const unsigned bits = __float_as_uint(x);
  return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

// A union and memcpy see the bits too.
union Word {
  float number;
  unsigned bits;
  unsigned char bytes[4];
};

struct Floats {
  float power, above, negated;
  unsigned key, top_byte, copied;
  int exponent;
};

__global__ void float_bits(const float* in, Floats* out) {
  const float x = in[threadIdx.x];
  Floats& o = out[threadIdx.x];
  o.power = power_of_two(static_cast<int>(threadIdx.x) - 60);
  o.above = next_above(x);
  Word word;
  word.number = x;
  word.bits ^= 0x80000000u;
  o.negated = word.number;
  o.top_byte = word.bytes[3];
  o.key = sort_key(x);
  memcpy(&o.copied, &x, sizeof(x));
  o.exponent = static_cast<int>(__float_as_uint(x) >> 23 & 0xff) - 127;
}

TEST(Floats, BitByBit) {
  under_thread_orders([](Stream& stream) {
    const auto values = normals(128);
    const auto in = on_device(values, stream);
    DeviceBuffer<Floats> out(128);
    launch(float_bits, {.grid = 1, .block = 128, .stream = &stream}, in.data(), out.data());
    const auto got = on_host(out, stream);
    for (std::size_t i = 0; i < 128; ++i) {
      const float x = values[i];
      const auto bits = std::bit_cast<unsigned>(x);
      EXPECT_EQ(got[i].power, std::ldexp(1.0f, static_cast<int>(i) - 60));
      EXPECT_EQ(got[i].above, std::nextafter(x, INFINITY));
      EXPECT_EQ(got[i].negated, -x);
      EXPECT_EQ(got[i].top_byte, (bits ^ 0x80000000u) >> 24);
      EXPECT_EQ(got[i].copied, bits);
      EXPECT_EQ(got[i].exponent, std::ilogb(x));
      for (std::size_t j = 0; j < 128; ++j)
        ASSERT_EQ(got[i].key < got[j].key, x < values[j]) << i << ", " << j;
    }
  });
}

// --- Words of 64 bits through shuffles ---

struct Wide {
  double real;
  long long integer;
  unsigned long long pointed_at;
};

__global__ void shuffle_wide(const double* reals, const long long* numbers, Wide* out) {
  const unsigned lane = threadIdx.x;
  const auto* mine = reinterpret_cast<const unsigned char*>(&numbers[lane]);
  Wide& o = out[lane];
  o.real = __shfl_sync(0xffffffffu, reals[lane], static_cast<int>((lane + 7) % 32));
  o.integer = __shfl_xor_sync(0xffffffffu, numbers[lane], 5);
  // A pointer travels as an integer.
  const auto address = reinterpret_cast<unsigned long long>(mine);
  const auto other = __shfl_down_sync(0xffffffffu, address, 3);
  o.pointed_at = static_cast<unsigned long long>(*reinterpret_cast<const long long*>(other));
}

TEST(Shuffle, OfWideValues) {
  under_thread_orders([](Stream& stream) {
    std::vector<double> reals;
    std::vector<long long> numbers;
    for (int v : integers<int>(32, -1'000'000, 1'000'000)) {
      reals.push_back(v * 1e-3);
      numbers.push_back(v * 10'000'000'001LL);
    }
    const auto r = on_device(reals, stream);
    const auto n = on_device(numbers, stream);
    DeviceBuffer<Wide> out(32);
    launch(shuffle_wide, {.grid = 1, .block = 32, .stream = &stream}, r.data(), n.data(),
           out.data());
    const auto got = on_host(out, stream);
    for (std::size_t i = 0; i < 32; ++i) {
      EXPECT_EQ(got[i].real, reals[(i + 7) % 32]);
      EXPECT_EQ(got[i].integer, numbers[i ^ 5]);
      EXPECT_EQ(got[i].pointed_at,
                static_cast<unsigned long long>(numbers[i + 3 < 32 ? i + 3 : i]));
    }
  });
}

// --- One memory, two types ---

// A thread uses its own words of shared memory first as floats, then as integers.
__global__ void reuse_memory(const float* in, unsigned* out) {
  float* numbers = dynamic_shared<float>();
  auto* words = reinterpret_cast<unsigned*>(numbers);
  words[threadIdx.x] = 1;
  numbers[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = words[threadIdx.x];
}

// The same through two pointers that the compiler cannot see to be one.
__global__ void write_both(unsigned* words, float* numbers, unsigned* out) {
  const unsigned i = threadIdx.x;
  words[i] = 1;
  numbers[i] = 2;
  out[i] = words[i];
}

TEST(TwoTypes, OfOneMemory) {
  under_thread_orders([](Stream& stream) {
    const auto values = normals(64);
    const auto in = on_device(values, stream);
    DeviceBuffer<unsigned> out(64);
    launch(reuse_memory, {.grid = 1, .block = 64, .shared_bytes = 256, .stream = &stream},
           in.data(), out.data());
    const auto got = on_host(out, stream);
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], std::bit_cast<unsigned>(values[i]));

    const auto both = zeros<unsigned>(64, stream);
    launch(write_both, {.grid = 1, .block = 64, .stream = &stream}, both.data(),
           reinterpret_cast<float*>(both.data()), out.data());
    for (unsigned word : on_host(out, stream)) EXPECT_EQ(word, 0x40000000u);
  });
}

// --- Loads and stores with cache hints, of vectors ---

__global__ void hinted(const float4* __restrict__ in, float4* out) {
  const unsigned i = threadIdx.x;
  const float4 a = __ldg(&in[i]);
  const float4 b = __ldcs(&in[i + 32]);
  const float4 c = __ldcg(&in[i + 64]);
  __stcs(&out[i], make_float4(a.x + b.x, a.y + c.y, b.z + c.z, a.w));
  __stcg(reinterpret_cast<float*>(&out[i + 32]), __ldg(reinterpret_cast<const float*>(in) + i));
  __stwt(reinterpret_cast<float2*>(&out[i + 32]) + 1, make_float2(b.y, __ldca(&in[i].w)));
  __stwb(reinterpret_cast<int*>(&out[i + 32]) + 1, __ldcv(reinterpret_cast<const int*>(in) + i));
}

TEST(CacheHints, OnVectors) {
  under_thread_orders([](Stream& stream) {
    const auto values = normals(4 * 96);
    const auto in = on_device(values, stream);
    DeviceBuffer<float> out(4 * 64);
    launch(hinted, {.grid = 1, .block = 32, .stream = &stream},
           reinterpret_cast<const float4*>(in.data()), reinterpret_cast<float4*>(out.data()));
    const auto got = on_host(out, stream);
    for (std::size_t i = 0; i < 32; ++i) {
      const float* a = &values[4 * i];
      const float* b = a + 128;
      const float* c = b + 128;
      const float expected[] = {a[0] + b[0], a[1] + c[1], b[2] + c[2], a[3]};
      EXPECT_TRUE(std::equal(expected, expected + 4, &got[4 * i])) << i;
      const float rest[] = {values[i], values[i], b[1], a[3]};
      EXPECT_TRUE(std::equal(rest, rest + 4, &got[4 * (i + 32)])) << i;
    }
  });
}

} // namespace
} // namespace kg::idioms
