// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Our half, bfloat16 and 8-bit floats against the CUDA toolkit's host code, bit for bit.
#include "primitives/fp8.h"
#include "runtime/host/bfloat16.h"
#include "runtime/host/half.h"
#include "tests/unit/kernels/runtime/half_format_table.h"

#include <bit>
#include <cstdint>
#include <gtest/gtest.h>
#include <ostream>
#include <random>
#include <vector>

namespace {

using kg::cuda_reference::Format;

struct Pair {
  const char* name;
  Format ours;
  Format cuda;

  friend void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }
};

class HalfCuda : public testing::TestWithParam<Pair> {
 protected:
  Format ours = GetParam().ours;
  Format cuda = GetParam().cuda;
};

INSTANTIATE_TEST_SUITE_P(Formats, HalfCuda,
                         testing::Values(Pair{"half", half_table(), kg::cuda_reference::half()},
                                         Pair{"bfloat16", bfloat16_table(),
                                              kg::cuda_reference::bfloat16()}),
                         [](const auto& info) { return info.param.name; });

// Every 16-bit pattern.
std::vector<std::uint16_t> all_bits() {
  std::vector<std::uint16_t> bits(65536);
  for (unsigned i = 0; i < 65536; ++i) bits[i] = static_cast<std::uint16_t>(i);
  return bits;
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST_P(HalfCuda, UnaryOverAllValues) {
  for (const std::uint16_t a : all_bits()) {
    ASSERT_EQ(bits_of(ours.to_float(a)), bits_of(cuda.to_float(a))) << a;
    ASSERT_EQ(ours.negated(a), cuda.negated(a)) << a;
    ASSERT_EQ(ours.absolute(a), cuda.absolute(a)) << a;
    ASSERT_EQ(ours.to_int(a), cuda.to_int(a)) << a;
    ASSERT_EQ(ours.to_unsigned(a), cuda.to_unsigned(a)) << a;
    ASSERT_EQ(ours.to_short(a), cuda.to_short(a)) << a;
    ASSERT_EQ(ours.to_long(a), cuda.to_long(a)) << a;
    ASSERT_EQ(ours.to_unsigned_long(a), cuda.to_unsigned_long(a)) << a;
  }
}

// Every float whose bits are a multiple of 997 (a prime), and all those next to a value of the
// format or to the middle of two, where the rounding is decided.
TEST_P(HalfCuda, FromFloat) {
  std::vector<float> floats;
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 997) {
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (const std::uint16_t a : all_bits()) {
    const std::uint32_t here = bits_of(ours.to_float(a));
    const std::uint32_t next = bits_of(ours.to_float(static_cast<std::uint16_t>(a + 1)));
    const std::uint32_t middle = here + (next - here) / 2;
    for (const std::uint32_t bits :
         {here - 1, here, here + 1, middle - 1, middle, middle + 1, middle + 2}) {
      floats.push_back(std::bit_cast<float>(bits));
    }
  }
  for (const float value : floats) {
    ASSERT_EQ(ours.from_float(value), cuda.from_float(value)) << std::hexfloat << value;
    ASSERT_EQ(ours.from_float_rn(value), cuda.from_float_rn(value)) << std::hexfloat << value;
    ASSERT_EQ(ours.from_float_rz(value), cuda.from_float_rz(value)) << std::hexfloat << value;
    ASSERT_EQ(ours.from_float_rd(value), cuda.from_float_rd(value)) << std::hexfloat << value;
    ASSERT_EQ(ours.from_float_ru(value), cuda.from_float_ru(value)) << std::hexfloat << value;
    // A float, and doubles that are closer to it than any other float.
    for (const double nudge : {0.0, 0x1p-40, -0x1p-40}) {
      const double wide = value * (1 + nudge);
      ASSERT_EQ(ours.from_double(wide), cuda.from_double(wide)) << std::hexfloat << wide;
    }
  }
}

TEST_P(HalfCuda, FromIntegers) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    // Of all magnitudes.
    const auto wide = static_cast<long long>(random()) >> (random() % 64);
    // The toolkit's host code overflows in its cast back from float near the end of the range.
    if (wide < (1ll << 62) && wide > -(1ll << 62)) {
      ASSERT_EQ(ours.from_long(wide), cuda.from_long(wide)) << wide;
    }
    const auto narrow = static_cast<int>(wide);
    ASSERT_EQ(ours.from_int(narrow), cuda.from_int(narrow)) << narrow;
  }
}

// Every value with each of these: the ends of the format, its ordinary values, and random ones.
TEST_P(HalfCuda, BinaryOverAllValues) {
  std::vector<std::uint16_t> partners = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x0080,
                                         0x7bff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0x7f7f, 0x7f80,
                                         0xff80, 0x7fff, 0xffff, 0x3c00, 0xbc00, 0x3f80, 0x3c01};
  std::mt19937 random(2);
  while (partners.size() < 64) partners.push_back(static_cast<std::uint16_t>(random()));
  for (const std::uint16_t b : partners) {
    for (const std::uint16_t a : all_bits()) {
      ASSERT_EQ(ours.sum(a, b), cuda.sum(a, b)) << a << ' ' << b;
      ASSERT_EQ(ours.difference(a, b), cuda.difference(a, b)) << a << ' ' << b;
      ASSERT_EQ(ours.product(a, b), cuda.product(a, b)) << a << ' ' << b;
      ASSERT_EQ(ours.quotient(a, b), cuda.quotient(a, b)) << a << ' ' << b;
      ASSERT_EQ(ours.larger(a, b), cuda.larger(a, b)) << a << ' ' << b;
      ASSERT_EQ(ours.smaller(a, b), cuda.smaller(a, b)) << a << ' ' << b;
      ASSERT_EQ(ours.comparisons(a, b), cuda.comparisons(a, b)) << a << ' ' << b;
    }
  }
}

// The one place where we follow the device (PTX max.NaN: -0 is below +0) and not the toolkit's host
// code. It also shows that the two tables hold different code.
TEST(HalfCudaReference, IsNotOurs) {
  constexpr std::uint16_t negative_zero = 0x8000;
  EXPECT_EQ(bfloat16_table().larger_nan(negative_zero, 0), 0);
  EXPECT_EQ(kg::cuda_reference::bfloat16().larger_nan(negative_zero, 0), negative_zero);
  EXPECT_NE(half_table().sum, kg::cuda_reference::half().sum);
}

// Floats of all kinds, 2^24 of them, and every 8-bit number.
template <class T>
void expect_as_cuda(bool e5m2) {
  for (std::uint64_t i = 0; i >> 32 == 0; i += 255) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    for (const bool saturate : {false, true})
      ASSERT_EQ(kg::narrowed<T>(value, saturate).bits,
                kg::cuda_reference::fp8_bits(value, e5m2, saturate))
          << value;
  }
  for (int bits = 0; bits < 256; ++bits) {
    const float ours = kg::to_float(T{static_cast<std::uint8_t>(bits)});
    const float cuda = kg::cuda_reference::fp8_value(static_cast<std::uint8_t>(bits), e5m2);
    if (cuda != cuda)
      ASSERT_NE(ours, ours) << bits;
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(ours), std::bit_cast<std::uint32_t>(cuda)) << bits;
  }
}
TEST(Fp8Cuda, E4m3) { expect_as_cuda<kg::e4m3>(false); }
TEST(Fp8Cuda, E5m2) { expect_as_cuda<kg::e5m2>(true); }

} // namespace
