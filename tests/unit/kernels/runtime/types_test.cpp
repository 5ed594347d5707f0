// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The host backend's vector types and single-thread device functions against known answers.
#include "runtime/host/intrinsics_math.h"
#include "runtime/host/vector_types.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <type_traits>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

template <class T>
constexpr bool is_plain(std::size_t size, std::size_t alignment) {
  return sizeof(T) == size && alignof(T) == alignment && std::is_trivial_v<T> &&
         std::is_aggregate_v<T>;
}

// Sizes and alignments: CUDA C++ Programming Guide, "Alignment Requirements of Built-in Vector
// Types".
static_assert(is_plain<char1>(1, 1) && is_plain<uchar1>(1, 1));
static_assert(is_plain<char2>(2, 2) && is_plain<uchar2>(2, 2));
static_assert(is_plain<char3>(3, 1) && is_plain<uchar3>(3, 1));
static_assert(is_plain<char4>(4, 4) && is_plain<uchar4>(4, 4));
static_assert(is_plain<short1>(2, 2) && is_plain<ushort1>(2, 2));
static_assert(is_plain<short2>(4, 4) && is_plain<ushort2>(4, 4));
static_assert(is_plain<short3>(6, 2) && is_plain<ushort3>(6, 2));
static_assert(is_plain<short4>(8, 8) && is_plain<ushort4>(8, 8));
static_assert(is_plain<int1>(4, 4) && is_plain<uint1>(4, 4) && is_plain<float1>(4, 4));
static_assert(is_plain<int2>(8, 8) && is_plain<uint2>(8, 8) && is_plain<float2>(8, 8));
static_assert(is_plain<int3>(12, 4) && is_plain<uint3>(12, 4) && is_plain<float3>(12, 4));
static_assert(is_plain<int4>(16, 16) && is_plain<uint4>(16, 16) && is_plain<float4>(16, 16));
static_assert(is_plain<long1>(8, 8) && is_plain<ulong1>(8, 8) && is_plain<double1>(8, 8));
static_assert(is_plain<long2>(16, 16) && is_plain<ulong2>(16, 16) && is_plain<double2>(16, 16));
static_assert(is_plain<long3>(24, 8) && is_plain<ulong3>(24, 8) && is_plain<double3>(24, 8));
static_assert(is_plain<long4>(32, 16) && is_plain<ulong4>(32, 16) && is_plain<double4>(32, 16));
static_assert(is_plain<longlong1>(8, 8) && is_plain<ulonglong1>(8, 8));
static_assert(is_plain<longlong2>(16, 16) && is_plain<ulonglong2>(16, 16));
static_assert(is_plain<longlong3>(24, 8) && is_plain<ulonglong3>(24, 8));
static_assert(is_plain<longlong4>(32, 16) && is_plain<ulonglong4>(32, 16));
static_assert(is_plain<double4_16a>(32, 16) && is_plain<double4_32a>(32, 32));
static_assert(is_plain<long4_16a>(32, 16) && is_plain<ulonglong4_32a>(32, 32));
static_assert(std::is_same_v<decltype(char4::x), signed char>);
static_assert(std::is_trivially_copyable_v<dim3> && sizeof(dim3) == 12);

TEST(VectorTypes, MakeFunctions) {
  constexpr float4 f = make_float4(1, 2, 3, 4);
  EXPECT_EQ(f.x + 10 * f.y + 100 * f.z + 1000 * f.w, 4321);
  constexpr uchar2 c = make_uchar2(200, 7);
  EXPECT_EQ(c.x * 1000 + c.y, 200007);
  constexpr longlong3 l = make_longlong3(1, -2, 1ll << 40);
  EXPECT_EQ(l.x + l.y + l.z, (1ll << 40) - 1);
  EXPECT_EQ(make_double4_32a(1, 2, 3, 4).w, 4);
}

TEST(VectorTypes, Dim3) {
  constexpr dim3 one;
  EXPECT_EQ(one.x * one.y * one.z, 1u);
  const dim3 plane(4, 5);
  EXPECT_EQ(plane.x, 4u);
  EXPECT_EQ(plane.y, 5u);
  EXPECT_EQ(plane.z, 1u);
  const dim3 copied = make_uint3(2, 3, 4);
  const uint3 back = copied;
  EXPECT_EQ(back.x * 100 + back.y * 10 + back.z, 234u);
}

TEST(MinMax, TypesAsInCuda) {
  static_assert(std::is_same_v<decltype(min(1, 2)), int>);
  static_assert(std::is_same_v<decltype(min(1, 2u)), unsigned>);
  static_assert(std::is_same_v<decltype(max(1l, 2l)), long>);
  static_assert(std::is_same_v<decltype(max(1l, 2ul)), unsigned long>);
  static_assert(std::is_same_v<decltype(max(std::size_t{1}, std::size_t{2})), std::size_t>);
  static_assert(std::is_same_v<decltype(max(1ll, 2ull)), unsigned long long>);
  static_assert(std::is_same_v<decltype(max(1.0f, 2.0f)), float>);
  static_assert(std::is_same_v<decltype(max(1.0f, 2.0)), double>);
  EXPECT_EQ(min(-1, 1), -1);
  EXPECT_EQ(min(-1, 1u), 1u); // -1 is the largest unsigned number
  EXPECT_EQ(max(-1l, 5l), 5l);
  EXPECT_EQ(max('a', 'b'), 'b');
}

TEST(MinMax, NanAndZeros) {
  EXPECT_EQ(max(kNan, 1.0f), 1.0f);
  EXPECT_EQ(max(1.0f, kNan), 1.0f);
  EXPECT_EQ(min(kNan, 1.0), 1.0);
  EXPECT_EQ(min(1.0, kNan), 1.0);
  EXPECT_TRUE(isnan(max(kNan, kNan)));
  for (const float zero : {0.0f, -0.0f}) {
    EXPECT_FALSE(signbit(max(zero, -zero)));
    EXPECT_TRUE(signbit(min(zero, -zero)));
  }
}

TEST(Bits, Counting) {
  EXPECT_EQ(__popc(0xf0f0f0f0u), 16);
  EXPECT_EQ(__popcll(~0ull), 64);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(0x50), 5);
  EXPECT_EQ(__ffsll(1ll << 40), 41);
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__brev(0x12345678u), 0x1e6a2c48u);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(__brev(1u << i), 1u << (31 - i)) << i;
  EXPECT_EQ(__brevll(0x12345678ull), 0x1e6a2c4800000000ull);
}

TEST(Bits, BytesAndShifts) {
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7531), 0x77553311u);
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0xba98),
            0x33221100u); // the fourth bits are masked
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1u, 1), 3u);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1u, 33), 3u);
  EXPECT_EQ(__funnelshift_lc(0x12345678u, 1u, 33), 0x12345678u);
  EXPECT_EQ(__funnelshift_r(2u, 1u, 1), 0x80000001u);
  EXPECT_EQ(__funnelshift_r(2u, 1u, 32), 2u);
  EXPECT_EQ(__funnelshift_rc(2u, 1u, 32), 1u);
  EXPECT_EQ(__float_as_uint(1.0f), 0x3f800000u);
  EXPECT_EQ(__int_as_float(-1 ^ 0x7fffff), -kInfinity);
  EXPECT_EQ(__hiloint2double(0x3ff00000, 0), 1.0);
  EXPECT_EQ(__double2hiint(-2.0), static_cast<int>(0xc0000000));
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(0.1)), 0.1);
}

TEST(Bits, Products) {
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__umulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
  EXPECT_EQ(__mul64hi(-1, 1), -1);
  EXPECT_EQ(__umul64hi(~0ull, ~0ull), ~0ull - 1);
  EXPECT_EQ(__mul24(0x00ffffff, 3), -3); // 24 ones are -1
  EXPECT_EQ(__umul24(0xff000002u, 3u), 6u);
  EXPECT_EQ(__sad(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 1u), 0u);
  EXPECT_EQ(__usad(3u, 10u, 1u), 8u);
  EXPECT_EQ(__rhadd(-1, 2), 1);
  EXPECT_EQ(__uhadd(0xffffffffu, 0xfffffffeu), 0xfffffffeu);
  EXPECT_EQ(__dp4a(make_char4(-1, 2, -3, 4), make_char4(5, -6, 7, 8), 100), 100 - 5 - 12 - 21 + 32);
  EXPECT_EQ(__dp4a(0x01020304u, 0xff000001u, 1u), 255u + 4 + 1);
}

TEST(Conversions, RoundAndSaturate) {
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rz(-2.7f), -2);
  EXPECT_EQ(__float2int_rd(-2.1f), -3);
  EXPECT_EQ(__float2int_ru(2.1f), 3);
  EXPECT_EQ(__float2int_rn(3e9f), std::numeric_limits<int>::max());
  const volatile float end =
      0x1p31f; // the first float beyond; volatile, for the CPU's conversion to run
  EXPECT_EQ(__float2int_rz(end), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2int_rn(-kInfinity), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rn(kNan), 0);
  EXPECT_EQ(__float2uint_rn(-1.0f), 0u);
  EXPECT_EQ(__float2uint_rz(4294967040.0f), 4294967040u);
  EXPECT_EQ(__float2uint_rz(4294967296.0f), 0xffffffffu);
  EXPECT_EQ(__float2ll_rz(kNan), std::numeric_limits<long long>::min());
  EXPECT_EQ(__double2int_rz(kNan), std::numeric_limits<int>::min());
  EXPECT_EQ(__double2ull_rz(0x1p63), 1ull << 63);
  EXPECT_EQ(__int2float_rn(16777217), 16777216.0f);
  EXPECT_EQ(__int2float_ru(16777217), 16777218.0f);
  EXPECT_EQ(__int2float_rd(-16777217), -16777218.0f);
  EXPECT_EQ(__uint2float_rz(0xffffffffu), 4294967040.0f);
  // A tie but for the last bit, which a double would lose.
  EXPECT_EQ(__ull2float_rn((1ull << 63) + (1ull << 39) + 1), 0x1p63f + 0x1p40f);
  EXPECT_EQ(__ll2float_rz(-(1ll << 62) - 1), -0x1p62f);
  EXPECT_EQ(__ll2float_rd(-(1ll << 62) - 1), std::nextafter(-0x1p62f, -kInfinity));
  EXPECT_EQ(__double2float_ru(1 + 0x1p-40), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(__double2float_rd(1e300), kLargest);
  EXPECT_EQ(__double2float_ru(-1e300), -kLargest);
  EXPECT_EQ(__double2float_ru(1e-300), kSmallest);
}

// The CPU's own directed roundings, as the reference.
class InMode {
 public:
  explicit InMode(int mode) { std::fesetround(mode); }
  ~InMode() { std::fesetround(FE_TONEAREST); }
  InMode(const InMode&) = delete;
  InMode& operator=(const InMode&) = delete;
};

template <class Operation>
float computed(int mode, Operation operation, float a, float b, float c) {
  const InMode in_mode(mode);
  // Volatile, so that nothing is computed in another mode, and so before or after.
  const volatile float x = a;
  const volatile float y = b;
  const volatile float z = c;
  const volatile float result = operation(x, y, z);
  return result;
}

TEST(DirectedRounding, AsTheCpuRounds) {
  const auto add = [](float a, float b, float) { return a + b; };
  const auto multiply = [](float a, float b, float) { return a * b; };
  const auto fused = [](float a, float b, float c) { return std::fma(a, b, c); };
  const auto same = [](float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || __float_as_uint(a) == __float_as_uint(b);
  };
  std::mt19937 random(5);
  for (int i = 0; i < 300'000; ++i) {
    // Half of the draws from all floats, half from a narrow range, where sums cancel and their
    // tails overlap.
    const auto draw = [&] {
      const auto bits = static_cast<std::uint32_t>(random());
      return i % 2 == 0 ? __uint_as_float(bits)
                        : __uint_as_float((bits & 0x87ffffffu) | 0x3c000000u);
    };
    const float a = draw();
    const float b = i % 16 == 1 ? -a : draw(); // an exact zero now and then
    const float c = i % 32 == 3 ? -a * b : draw();
    ASSERT_TRUE(same(__fadd_rz(a, b), computed(FE_TOWARDZERO, add, a, b, c))) << a << ' ' << b;
    ASSERT_TRUE(same(__fadd_rd(a, b), computed(FE_DOWNWARD, add, a, b, c))) << a << ' ' << b;
    ASSERT_TRUE(same(__fadd_ru(a, b), computed(FE_UPWARD, add, a, b, c))) << a << ' ' << b;
    ASSERT_TRUE(same(__fsub_rd(a, -b), computed(FE_DOWNWARD, add, a, b, c))) << a << ' ' << b;
    ASSERT_TRUE(same(__fmul_rz(a, b), computed(FE_TOWARDZERO, multiply, a, b, c))) << a << ' ' << b;
    ASSERT_TRUE(same(__fmul_rd(a, b), computed(FE_DOWNWARD, multiply, a, b, c))) << a << ' ' << b;
    ASSERT_TRUE(same(__fmul_ru(a, b), computed(FE_UPWARD, multiply, a, b, c))) << a << ' ' << b;
    ASSERT_TRUE(same(__fmaf_rz(a, b, c), computed(FE_TOWARDZERO, fused, a, b, c)))
        << std::hexfloat << a << ' ' << b << ' ' << c;
    ASSERT_TRUE(same(__fmaf_rd(a, b, c), computed(FE_DOWNWARD, fused, a, b, c)))
        << std::hexfloat << a << ' ' << b << ' ' << c;
    ASSERT_TRUE(same(__fmaf_ru(a, b, c), computed(FE_UPWARD, fused, a, b, c)))
        << std::hexfloat << a << ' ' << b << ' ' << c;
  }
}

TEST(DirectedRounding, NearestIsNotFused) {
  const volatile float a = 1 + 0x1p-12f;
  const float product = __fmul_rn(a, a); // 1 + 2^-11 + 2^-24, a tie, to even
  EXPECT_EQ(product, 1 + 0x1p-11f);
  EXPECT_EQ(__fadd_rn(__fmul_rn(a, a), -(1 + 0x1p-11f)), 0.0f);
  EXPECT_EQ(__fadd_rn(a * a, -(1 + 0x1p-11f)), 0.0f);
  EXPECT_EQ(__fmaf_rn(a, a, -(1 + 0x1p-11f)), 0x1p-24f);
}

// 1 / sqrt(x) lies between the middles of the result and its neighbours. Two binades hold every
// case.
TEST(Functions, RsqrtIsCorrectlyRounded) {
  for (std::uint32_t bits = 0x3f000000u; bits < 0x40000000u; ++bits) {
    const float x = std::bit_cast<float>(bits);
    const float result = __frsqrt_rn(x);
    const double below = (static_cast<double>(std::nextafter(result, 0.0f)) + result) / 2;
    const double above = (static_cast<double>(std::nextafter(result, 2.0f)) + result) / 2;
    // x * m^2 - 1 has the sign of m - 1 / sqrt(x); m^2 is exact.
    ASSERT_LE(std::fma(below * below, static_cast<double>(x), -1.0), 0) << std::hexfloat << x;
    ASSERT_GE(std::fma(above * above, static_cast<double>(x), -1.0), 0) << std::hexfloat << x;
  }
}

TEST(Functions, KnownValues) {
  EXPECT_EQ(sinpif(1.0f), 0.0f);
  EXPECT_EQ(sinpif(-2.5f), -1.0f);
  EXPECT_EQ(sinpif(1e9f), 0.0f);
  EXPECT_EQ(cospif(0.5f), 0.0f);
  EXPECT_EQ(cospif(-3.0f), -1.0f);
  EXPECT_EQ(cospif(0.0f), 1.0f);
  EXPECT_FLOAT_EQ(sinpif(0.25f), 0.70710678f);
  EXPECT_FLOAT_EQ(normcdff(0.0f), 0.5f);
  EXPECT_FLOAT_EQ(normcdff(-1.0f), 0.158655254f);
  EXPECT_EQ(rcbrtf(-8.0f), -0.5f);
  EXPECT_EQ(rsqrtf(0.0f), kInfinity);
  EXPECT_EQ(__saturatef(kNan), 0.0f);
  EXPECT_EQ(__saturatef(-1.0f), 0.0f);
  EXPECT_EQ(__saturatef(2.0f), 1.0f);
  EXPECT_EQ(__saturatef(0.5f), 0.5f);
  EXPECT_FLOAT_EQ(__expf(1.0f), 2.7182818f);
  EXPECT_FLOAT_EQ(__exp10f(2.0f), 100.0f);
  EXPECT_FLOAT_EQ(exp10f(-1.0f), 0.1f);
  EXPECT_FLOAT_EQ(__log2f(8.0f), 3.0f);
  EXPECT_FLOAT_EQ(__logf(10.0f), 2.3025851f);
  EXPECT_FLOAT_EQ(__log10f(1000.0f), 3.0f);
  EXPECT_FLOAT_EQ(__powf(2.0f, 0.5f), 1.4142135f);
  EXPECT_FLOAT_EQ(__tanf(1.0f), 1.5574077f);
  EXPECT_EQ(__fdividef(1.0f, 4.0f), 0.25f);
  float sine = 0;
  float cosine = 0;
  __sincosf(1.0f, &sine, &cosine);
  EXPECT_FLOAT_EQ(sine, __sinf(1.0f));
  EXPECT_FLOAT_EQ(sine, 0.84147098f);
  EXPECT_FLOAT_EQ(cosine, __cosf(1.0f));
  EXPECT_FLOAT_EQ(cosine, 0.54030231f);
  // From <math.h>, without std::.
  EXPECT_TRUE(isinf(kInfinity) && !isfinite(kNan) && fmaxf(1, 2) == fmaf(1, 1, 1));
}

} // namespace
