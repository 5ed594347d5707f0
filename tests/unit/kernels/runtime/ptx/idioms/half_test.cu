// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 16-bit arithmetic in pairs: conversions, fused multiply-add, comparisons, functions; vectors of
// eight; sums across a warp. Each operation rounds once, so that the expected bits follow from
// doubles, which hold every intermediate result exactly.
#include "tests/unit/kernels/runtime/ptx/idioms/idiom.h"

#include <cmath>

namespace kg::idioms {
namespace {

// The value of a 16-bit float and the one nearest to a double, on the host.
float value(f16 h) { return __half2float(h); }
float value(bf16 h) { return __bfloat162float(h); }

template <class T>
T nearest(double v);
template <>
f16 nearest<f16>(double v) {
  return __double2half(v);
}
template <>
bf16 nearest<bf16>(double v) {
  return __double2bfloat16(v);
}

template <class T>
struct PairOf;
template <>
struct PairOf<f16> {
  using Type = __half2;
  static __device__ Type from(float2 v) { return __float22half2_rn(v); }
  static __device__ float2 to(Type v) { return __half22float2(v); }
  static __device__ Type twice(f16 v) { return __half2half2(v); }
};
template <>
struct PairOf<bf16> {
  using Type = __nv_bfloat162;
  static __device__ Type from(float2 v) { return __float22bfloat162_rn(v); }
  static __device__ float2 to(Type v) { return __bfloat1622float2(v); }
  static __device__ Type twice(bf16 v) { return __bfloat162bfloat162(v); }
};

// Random values of T between -4 and 4.
template <class T>
std::vector<T> halves(std::size_t size, std::uint64_t tensor) {
  std::vector<T> values(size);
  const auto numbers = integers<float>(size, -4096, 4096, tensor);
  for (std::size_t i = 0; i < size; ++i) values[i] = nearest<T>(numbers[i] / 1024.0);
  return values;
}

template <class T>
class Half : public testing::Test {};
using HalfTypes = testing::Types<f16, bf16>;
TYPED_TEST_SUITE(Half, HalfTypes, test::DtypeNames);

// --- Pairs ---

template <class T>
__global__ void axpy_pairs(T a, const T* __restrict__ x, T* __restrict__ y, int n) {
  using Pair = typename PairOf<T>::Type;
  const Pair factor = PairOf<T>::twice(a);
  const auto* x2 = reinterpret_cast<const Pair*>(x);
  auto* y2 = reinterpret_cast<Pair*>(y);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n / 2;
       i += static_cast<int>(gridDim.x * blockDim.x))
    y2[i] = __hfma2(factor, x2[i], y2[i]);
  if (n % 2 != 0 && blockIdx.x == 0 && threadIdx.x == 0) y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}

TYPED_TEST(Half, FusedMultiplyAddRoundsOnce) {
  using T = TypeParam;
  under_thread_orders([](Stream& stream) {
    constexpr int kN = 1001;
    const auto x = halves<T>(kN, 1);
    auto y = halves<T>(kN, 2);
    const T a = nearest<T>(1.2345f);
    const auto dx = on_device(x, stream);
    const auto dy = on_device(y, stream);
    launch(axpy_pairs<T>, {.grid = 2, .block = 64, .stream = &stream}, a, dx.data(), dy.data(), kN);
    const auto got = on_host(dy, stream);
    for (std::size_t i = 0; i < kN; ++i) {
      const double exact = static_cast<double>(value(a)) * value(x[i]) + value(y[i]);
      const float expected = value(nearest<T>(exact));
      ASSERT_EQ(value(got[i]), expected) << i;
    }
  });
}

template <class T>
__global__ void pair_arithmetic(const T* a, const T* b, T* out) {
  using Pair = typename PairOf<T>::Type;
  const unsigned i = threadIdx.x;
  const unsigned n = blockDim.x;
  const Pair x = reinterpret_cast<const Pair*>(a)[i];
  const Pair y = reinterpret_cast<const Pair*>(b)[i];
  auto* o = reinterpret_cast<Pair*>(out) + i;
  o[0 * n] = __hadd2(x, y);
  o[1 * n] = __hsub2(x, y);
  o[2 * n] = __hmul2(x, y);
  o[3 * n] = __hmax2(x, y);
  o[4 * n] = __hmin2(x, y);
  o[5 * n] = __hneg2(x);
  o[6 * n] = __habs2(x);
  o[7 * n] = __hgt2(x, y);
  const float2 f = PairOf<T>::to(x);
  o[8 * n] = PairOf<T>::from(make_float2(f.y * 0.1f, f.x * 3));
  o[9 * n] = x + y * y; // two roundings
}

TYPED_TEST(Half, PairsWorkElementByElement) {
  using T = TypeParam;
  under_thread_orders([](Stream& stream) {
    constexpr std::size_t kN = 128;
    const auto a = halves<T>(kN, 3);
    const auto b = halves<T>(kN, 4);
    const auto da = on_device(a, stream);
    const auto db = on_device(b, stream);
    DeviceBuffer<T> out(10 * kN);
    launch(pair_arithmetic<T>, {.grid = 1, .block = kN / 2, .stream = &stream}, da.data(),
           db.data(), out.data());
    const auto got = on_host(out, stream);
    const auto rounded = [](double v) { return value(nearest<T>(v)); };
    for (std::size_t i = 0; i < kN; ++i) {
      const double x = value(a[i]), y = value(b[i]);
      const double swapped = value(a[i ^ 1]);
      const auto expect = [&](std::size_t row, double expected) {
        EXPECT_EQ(value(got[row * kN + i]), rounded(expected)) << "row " << row << ", " << i;
      };
      expect(0, x + y);
      expect(1, x - y);
      expect(2, x * y);
      expect(3, std::fmax(x, y));
      expect(4, std::fmin(x, y));
      expect(5, -x);
      expect(6, std::abs(x));
      expect(7, x > y);
      expect(8, i % 2 == 0 ? static_cast<double>(static_cast<float>(swapped) * 0.1f) : 3 * swapped);
      expect(9, x + static_cast<double>(rounded(y * y)));
    }
  });
}

// --- Functions ---

template <class T>
__global__ void pair_functions(const T* a, T* out) {
  using Pair = typename PairOf<T>::Type;
  const unsigned i = threadIdx.x;
  const unsigned n = blockDim.x;
  const Pair x = reinterpret_cast<const Pair*>(a)[i];
  auto* o = reinterpret_cast<Pair*>(out) + i;
  o[0 * n] = h2exp(x);
  o[1 * n] = h2log(__habs2(x));
  o[2 * n] = h2sqrt(__habs2(x));
  o[3 * n] = h2rsqrt(__habs2(x));
  o[4 * n] = h2rcp(x);
  o[5 * n] = h2exp2(x);
  o[6 * n] = h2cos(x);
  o[7 * n] = h2floor(x);
}

// A GPU's functions of one 16-bit type are within 2 units in the last place (CUDA Math API), one
// unit being at most 2^-10 of the value (f16), 2^-7 (bf16).
TYPED_TEST(Half, Functions) {
  using T = TypeParam;
  under_thread_orders([](Stream& stream) {
    constexpr std::size_t kN = 64;
    auto a = halves<T>(kN, 5);
    for (T& v : a) {
      if (value(v) == 0) v = nearest<T>(1.5f);
    }
    const auto in = on_device(a, stream);
    DeviceBuffer<T> out(8 * kN);
    launch(pair_functions<T>, {.grid = 1, .block = kN / 2, .stream = &stream}, in.data(),
           out.data());
    const auto got = on_host(out, stream);
    const double unit = std::is_same_v<T, f16> ? 0x1p-10 : 0x1p-7;
    for (std::size_t i = 0; i < kN; ++i) {
      const double x = value(a[i]);
      const double expected[] = {std::exp(x),
                                 std::log(std::abs(x)),
                                 std::sqrt(std::abs(x)),
                                 1 / std::sqrt(std::abs(x)),
                                 1 / x,
                                 std::exp2(x),
                                 std::cos(x),
                                 std::floor(x)};
      for (std::size_t row = 0; row < 8; ++row) {
        EXPECT_NEAR(value(got[row * kN + i]), expected[row], 2 * unit * std::abs(expected[row]))
            << "row " << row << " of " << x;
      }
    }
  });
}

// --- Eight at a time, a sum per warp in float ---

template <class T>
struct alignas(16) Eight {
  typename PairOf<T>::Type pairs[4];
};

template <class T>
__global__ void dot_products(const T* __restrict__ a, const T* __restrict__ b, float* out,
                             int cols) {
  const int row = static_cast<int>(threadIdx.x / 32);
  const auto* x = reinterpret_cast<const Eight<T>*>(a + row * cols);
  const auto* y = reinterpret_cast<const Eight<T>*>(b + row * cols);
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x % 32); i < cols / 8; i += 32) {
    const Eight<T> u = x[i];
    const Eight<T> v = y[i];
    for (int p = 0; p < 4; ++p) {
      const float2 f = PairOf<T>::to(u.pairs[p]);
      const float2 g = PairOf<T>::to(v.pairs[p]);
      sum += f.x * g.x + f.y * g.y;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) out[row] = sum;
}

TYPED_TEST(Half, DotProductsOfPackedRows) {
  using T = TypeParam;
  under_thread_orders([](Stream& stream) {
    constexpr std::size_t kRows = 4, kCols = 520;
    std::vector<T> a, b;
    for (float v : integers<float>(kRows * kCols, -15, 15, 6)) a.push_back(nearest<T>(v));
    for (float v : integers<float>(kRows * kCols, -15, 15, 7)) b.push_back(nearest<T>(v));
    const auto da = on_device(a, stream);
    const auto db = on_device(b, stream);
    DeviceBuffer<float> out(kRows);
    launch(dot_products<T>, {.grid = 1, .block = 32 * kRows, .stream = &stream}, da.data(),
           db.data(), out.data(), static_cast<int>(kCols));
    const auto got = on_host(out, stream);
    for (std::size_t r = 0; r < kRows; ++r) {
      float expected = 0;
      for (std::size_t i = r * kCols; i < (r + 1) * kCols; ++i)
        expected += value(a[i]) * value(b[i]);
      EXPECT_EQ(got[r], expected);
    }
  });
}

// --- Pairs through shuffles, the largest of a warp ---

__global__ void largest_pair(const __half2* in, __half2* out) {
  __half2 v = in[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2)
    v = __hmax2(v, __shfl_xor_sync(0xffffffffu, v, offset));
  if (threadIdx.x == 0) *out = v;
}

TEST(HalfPair, LargestOfAWarp) {
  under_thread_orders([](Stream& stream) {
    const auto values = halves<f16>(64, 8);
    float low = -99, high = -99;
    for (std::size_t i = 0; i < 64; i += 2) {
      low = std::fmax(low, value(values[i]));
      high = std::fmax(high, value(values[i + 1]));
    }
    const auto in = on_device(values, stream);
    DeviceBuffer<f16> out(2);
    launch(largest_pair, {.grid = 1, .block = 32, .stream = &stream},
           reinterpret_cast<const __half2*>(in.data()), reinterpret_cast<__half2*>(out.data()));
    const auto got = on_host(out, stream);
    EXPECT_EQ(value(got[0]), low);
    EXPECT_EQ(value(got[1]), high);
  });
}

} // namespace
} // namespace kg::idioms
