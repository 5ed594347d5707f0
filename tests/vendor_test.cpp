// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// That the wrappers hand each library the problem that was asked for: extents, strides,
// transpositions, scalars and types. Small integers and powers of two, whose results every type and
// every order of summation represents exactly; outputs start poisoned.
#include "runtime/backend.h"
#include "runtime/runtime.h"
#include "tests/support/numbers.h"
#include "vendor/vendor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <functional>

namespace kg::vendor {
namespace {

using Bytes = DeviceBuffer<std::byte>;

constexpr std::array kBinaries = {Binary::add, Binary::sub, Binary::mul, Binary::div};
constexpr std::array kAxes = {SumAxis::all, SumAxis::rows, SumAxis::columns};
constexpr std::array kFloats = {Dtype::f32, Dtype::f16, Dtype::bf16};
constexpr float kGap = 999; // between the rows of strided inputs: wrong in every result it reaches

// An integer from -4 to 4 that depends on the index without a short period.
float small_integer(std::size_t i) { return static_cast<float>((i * 7 + i / 9 * 5 + 3) % 9) - 4; }

std::vector<float> small_integers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = small_integer(i);
  return values;
}

// A row-major matrix whose rows are `leading` apart, with kGap between them.
std::vector<float> strided(std::int64_t rows, std::int64_t cols, std::int64_t leading) {
  std::vector<float> values(static_cast<std::size_t>(rows * leading), kGap);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      values[static_cast<std::size_t>(i * leading + j)] =
          small_integer(static_cast<std::size_t>(i * cols + j));
  return values;
}

bool is_poison(float value) { return test::raw_bits(value) == test::poison_bits(Dtype::f32); }

// Values of any type, to and from the device.
Bytes upload(Dtype dtype, const std::vector<double>& values, Stream& stream) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = test::encode(dtype, values[i]);
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, size_of(dtype)); // little-endian
  }
  return Bytes::from_host(bytes, stream);
}

std::vector<double> download(Dtype dtype, const Bytes& buffer, Stream& stream) {
  const std::vector<std::byte> bytes = buffer.to_host(stream);
  std::vector<double> values(bytes.size() / size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size_of(dtype), size_of(dtype));
    values[i] = test::decode(dtype, bits);
  }
  buffer.check_guards();
  return values;
}

std::vector<float> download(const DeviceBuffer<float>& buffer, Stream& stream) {
  buffer.check_guards();
  return buffer.to_host(stream);
}

double apply(Binary op, double a, double b) {
  const std::array results = {a + b, a - b, a * b, a / b}; // in the order of Binary
  return results[static_cast<std::size_t>(op)];
}

// `call` must throw an Error whose text has `part`.
void expect_error(const std::function<void()>& call, const std::string& part) {
  std::string text;
  try {
    call();
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_NE(text.find(part), std::string::npos) << "not in: \"" << text << "\"";
}

TEST(Vendor, NamesItsLibrariesAndTheirVersions) {
  const std::vector<std::string> expected =
      backend == Backend::cuda ? std::vector<std::string>{"cublas", "cudnn", "thrust", "cub"}
                               : std::vector<std::string>{"openblas", "onednn", "thrust"};
  std::vector<std::string> names;
  for (const Library& library : libraries()) {
    names.push_back(library.name);
    EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(library.version[0])) &&
                std::count(library.version.begin(), library.version.end(), '.') >= 1)
        << library.name << " " << library.version;
  }
  EXPECT_EQ(names, expected);
}

TEST(Vendor, HasEveryOperationInF32AndNoneInOtherTypes) {
  for (const Binary op : kBinaries) {
    EXPECT_FALSE(elementwise_variants(op, Dtype::f32).empty());
    EXPECT_TRUE(elementwise_variants(op, Dtype::i32).empty());
  }
  for (const SumAxis axis : kAxes) EXPECT_FALSE(reduction_variants(axis).empty());
  EXPECT_FALSE(softmax_variants(Dtype::f32).empty());
  EXPECT_TRUE(softmax_variants(Dtype::f64).empty());
  EXPECT_FALSE(transpose_variants().empty());
  EXPECT_FALSE(gemm_variants().empty());
}

TEST(Vendor, ElementwiseGivesTheExactResult) {
  Stream stream;
  for (const Dtype dtype : kFloats)
    for (const Binary op : kBinaries)
      for (const std::string_view variant : elementwise_variants(op, dtype))
        for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{4099}}) {
          SCOPED_TRACE(
              fmt::format("{} {} op {} n {}", variant, name(dtype), fmt::underlying(op), n));
          std::vector<double> a(n), b(n), expected(n);
          for (std::size_t i = 0; i < n; ++i) {
            a[i] = small_integer(i);
            b[i] = std::ldexp(i % 2 ? -1 : 1, static_cast<int>(i % 5) - 2); // 1/4 to 4
            expected[i] = apply(op, a[i], b[i]);
          }
          const Bytes device_a = upload(dtype, a, stream);
          const Bytes device_b = upload(dtype, b, stream);
          Bytes out(n * size_of(dtype));
          elementwise(variant, op, dtype, device_a.data(), device_b.data(), out.data(),
                      static_cast<std::int64_t>(n), stream);
          EXPECT_EQ(download(dtype, out, stream), expected);
        }
}

TEST(Vendor, ReductionSumsTheChosenAxis) {
  Stream stream;
  struct Shape {
    std::int64_t rows, cols;
  };
  for (const SumAxis axis : kAxes)
    for (const std::string_view variant : reduction_variants(axis))
      for (const auto& [rows, cols] : {Shape{1, 1}, {3, 5}, {67, 130}, {1, 9}, {9, 1}}) {
        SCOPED_TRACE(fmt::format("{} axis {} {} x {}", variant, fmt::underlying(axis), rows, cols));
        const std::vector<float> x = small_integers(static_cast<std::size_t>(rows * cols));
        const std::int64_t results = axis == SumAxis::all ? 1 : axis == SumAxis::rows ? rows : cols;
        std::vector<float> expected(static_cast<std::size_t>(results));
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < cols; ++j) {
            const std::int64_t result = axis == SumAxis::all ? 0 : axis == SumAxis::rows ? i : j;
            expected[static_cast<std::size_t>(result)] += x[static_cast<std::size_t>(i * cols + j)];
          }
        const auto device_x = DeviceBuffer<float>::from_host(x, stream);
        DeviceBuffer<float> out(expected.size());
        reduction(variant, axis, device_x.data(), rows, cols, out.data(), stream);
        EXPECT_EQ(download(out, stream), expected);
      }
}

TEST(Vendor, EmptySumsAreZero) {
  Stream stream;
  for (const SumAxis axis : kAxes)
    for (const std::string_view variant : reduction_variants(axis)) {
      const bool of_rows = axis == SumAxis::rows;
      const std::vector<float> zeros(axis == SumAxis::all ? 1 : 3, 0.0F);
      DeviceBuffer<float> out(zeros.size());
      reduction(variant, axis, nullptr, of_rows ? 3 : 0, of_rows ? 0 : 3, out.data(), stream);
      EXPECT_EQ(download(out, stream), zeros) << variant << " axis " << fmt::underlying(axis);
    }
}

// Rows of small integers beside rows around 1000, whose exponentials overflow unless the largest is
// taken off first. The bound is that of a softmax in f32, (8 + |x - m| + 0.75 sqrt(chain)) u <= 24
// u here, and two roundings to the type: oneDNN stores the exponentials in it before it scales
// them.
TEST(Vendor, SoftmaxNormalisesEachRow) {
  Stream stream;
  constexpr std::int64_t kRows = 6;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : softmax_variants(dtype))
      for (const std::int64_t cols : {1, 5, 70}) {
        SCOPED_TRACE(fmt::format("{} {} cols {}", variant, name(dtype), cols));
        std::vector<double> x(static_cast<std::size_t>(kRows * cols));
        std::vector<double> expected(x.size());
        for (std::int64_t i = 0; i < kRows; ++i) {
          const auto first = static_cast<std::size_t>(i * cols);
          double sum = 0;
          for (std::size_t j = first; j < first + static_cast<std::size_t>(cols); ++j) {
            const double offset = 4 * std::floor(small_integer(j) / 4); // a step of bf16 at 1000
            x[j] = i % 2 ? 1000 + offset : small_integer(j);
            expected[j] = std::exp(x[j] - (i % 2 ? 1000 : 0));
            sum += expected[j];
          }
          for (std::size_t j = first; j < first + static_cast<std::size_t>(cols); ++j)
            expected[j] /= sum;
        }
        const Bytes device_x = upload(dtype, x, stream);
        Bytes y(device_x.size());
        softmax(variant, dtype, device_x.data(), y.data(), kRows, cols, stream);
        const std::vector<double> result = download(dtype, y, stream);
        const double tolerance = 24 * unit_roundoff(Dtype::f32) + 2 * unit_roundoff(dtype);
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(result[i], expected[i], tolerance * expected[i]) << i;
      }
}

TEST(Vendor, EmptyProblemsWriteNothing) {
  Stream stream;
  DeviceBuffer<float> out(1);
  for (const std::string_view variant : elementwise_variants(Binary::add, Dtype::f32))
    elementwise(variant, Binary::add, Dtype::f32, nullptr, nullptr, out.data(), 0, stream);
  for (const std::string_view variant : softmax_variants(Dtype::f32)) {
    softmax(variant, Dtype::f32, nullptr, out.data(), 0, 5, stream);
    softmax(variant, Dtype::f32, nullptr, out.data(), 5, 0, stream);
  }
  for (const std::string_view variant : transpose_variants()) {
    transpose(variant, nullptr, 0, 3, 3, out.data(), 0, stream);
    transpose(variant, nullptr, 3, 0, 0, out.data(), 3, stream);
  }
  EXPECT_TRUE(is_poison(download(out, stream)[0]));
}

TEST(Vendor, TransposeHonoursLeadingDimensions) {
  Stream stream;
  struct Shape {
    std::int64_t rows, cols, ldx, ldy;
  };
  for (const std::string_view variant : transpose_variants())
    for (const auto& [rows, cols, ldx, ldy] : {Shape{5, 3, 7, 9},
                                               {64, 96, 96, 64},
                                               {1, 17, 17, 1},
                                               {17, 1, 4, 20},
                                               {130, 33, 40, 131}}) {
      SCOPED_TRACE(fmt::format("{} {} x {}", variant, rows, cols));
      std::vector<float> x = strided(rows, cols, ldx);
      x[0] = -0.0F;
      const auto device_x = DeviceBuffer<float>::from_host(x, stream);
      DeviceBuffer<float> y(static_cast<std::size_t>(cols * ldy));
      transpose(variant, device_x.data(), rows, cols, ldx, y.data(), ldy, stream);
      const std::vector<float> result = download(y, stream);
      for (std::int64_t j = 0; j < cols; ++j)
        for (std::int64_t i = 0; i < ldy; ++i) {
          const float moved = result[static_cast<std::size_t>(j * ldy + i)];
          if (i >= rows) {
            ASSERT_TRUE(is_poison(moved)) << "gap " << j << ", " << i;
          } else {
            ASSERT_EQ(test::raw_bits(moved),
                      test::raw_bits(x[static_cast<std::size_t>(i * ldx + j)]))
                << j << ", " << i;
          }
        }
    }
}

// One gemm with padded rows everywhere against three loops. With beta = 0, C starts as poison,
// which must not spread.
void check_gemm(std::string_view variant, Math math, Gemm problem) {
  Stream stream;
  const auto [rows_a, cols_a] =
      problem.transpose_a ? std::pair(problem.k, problem.m) : std::pair(problem.m, problem.k);
  const auto [rows_b, cols_b] =
      problem.transpose_b ? std::pair(problem.n, problem.k) : std::pair(problem.k, problem.n);
  problem.lda = cols_a + 3;
  problem.ldb = cols_b + 1;
  problem.ldc = problem.n + 2;
  const std::vector<float> a = strided(rows_a, cols_a, problem.lda);
  const std::vector<float> b = strided(rows_b, cols_b, problem.ldb);
  const std::vector<float> c = strided(problem.m, problem.n, problem.ldc);
  const auto device_a = DeviceBuffer<float>::from_host(a, stream);
  const auto device_b = DeviceBuffer<float>::from_host(b, stream);
  DeviceBuffer<float> device_c(c.size());
  if (problem.beta != 0) device_c.copy_from(c, stream);
  problem.a = device_a.data();
  problem.b = device_b.data();
  problem.c = device_c.data();
  gemm(variant, problem, math, stream);

  const std::vector<float> result = download(device_c, stream);
  for (std::int64_t i = 0; i < problem.m; ++i)
    for (std::int64_t j = 0; j < problem.ldc; ++j) {
      const auto at = static_cast<std::size_t>(i * problem.ldc + j);
      if (j >= problem.n) { // untouched
        ASSERT_TRUE(problem.beta != 0 ? result[at] == kGap : is_poison(result[at]))
            << i << ", " << j;
        continue;
      }
      float sum = 0;
      for (std::int64_t l = 0; l < problem.k; ++l)
        sum += a[static_cast<std::size_t>(problem.transpose_a ? l * problem.lda + i
                                                              : i * problem.lda + l)] *
               b[static_cast<std::size_t>(problem.transpose_b ? j * problem.ldb + l
                                                              : l * problem.ldb + j)];
      const float before = problem.beta != 0 ? problem.beta * c[at] : 0.0F;
      ASSERT_EQ(result[at], problem.alpha * sum + before) << i << ", " << j;
    }
}

TEST(Vendor, GemmHonoursTranspositionsScalarsAndLeadingDimensions) {
  for (const std::string_view variant : gemm_variants())
    for (const Math math : {Math::pedantic, Math::fastest})
      for (const bool transpose_a : {false, true})
        for (const bool transpose_b : {false, true})
          for (const std::array<std::int64_t, 3>& mnk :
               {std::array<std::int64_t, 3>{1, 1, 1}, {2, 3, 5}, {70, 33, 129}, {4, 6, 0}})
            for (const std::array<float, 2>& scalars :
                 {std::array<float, 2>{1, 0}, {-2, 0}, {0.5F, 1}, {2, -3}}) {
              SCOPED_TRACE(fmt::format("{} {}{} {} alpha {} beta {}", variant,
                                       transpose_a ? 't' : 'n', transpose_b ? 't' : 'n',
                                       fmt::join(mnk, " "), scalars[0], scalars[1]));
              check_gemm(variant, math,
                         {transpose_a, transpose_b, mnk[0], mnk[1], mnk[2], scalars[0], nullptr, 0,
                          nullptr, 0, scalars[1], nullptr, 0});
            }
}

TEST(Vendor, GemmWithAlphaZeroIgnoresItsOperands) {
  Stream stream;
  const DeviceBuffer<float> operand(4); // poison
  for (const std::string_view variant : gemm_variants()) {
    auto c = DeviceBuffer<float>::from_host(std::vector<float>{1, 2, 3, 4}, stream);
    gemm(variant, {false, false, 2, 2, 2, 0, operand.data(), 2, operand.data(), 2, 3, c.data(), 2},
         Math::pedantic, stream);
    EXPECT_EQ(download(c, stream), (std::vector<float>{3, 6, 9, 12})) << variant;
  }
}

// No inner dimension: C = beta C, with operands that may be null and leading dimensions that may be
// 0. No outer one: nothing.
TEST(Vendor, GemmTakesEmptyMatrices) {
  Stream stream;
  for (const std::string_view variant : gemm_variants()) {
    auto c = DeviceBuffer<float>::from_host(std::vector<float>{1, 2, 3, 4}, stream);
    gemm(variant, {false, false, 0, 2, 2, 1, nullptr, 2, nullptr, 2, 0, c.data(), 2},
         Math::pedantic, stream);
    gemm(variant, {false, false, 2, 0, 2, 1, nullptr, 2, nullptr, 0, 0, c.data(), 2},
         Math::pedantic, stream);
    EXPECT_EQ(download(c, stream), (std::vector<float>{1, 2, 3, 4})) << variant;
    gemm(variant, {false, true, 2, 2, 0, 1, nullptr, 0, nullptr, 0, 2, c.data(), 2}, Math::pedantic,
         stream);
    EXPECT_EQ(download(c, stream), (std::vector<float>{2, 4, 6, 8})) << variant;
  }
}

TEST(Vendor, AnUnknownVariantIsAnErrorThatListsTheOthers) {
  Stream stream;
  const auto first = [](const std::vector<std::string_view>& names) {
    return "use one of: " + std::string(names.front());
  };
  expect_error(
      [&] { elementwise("cufft", Binary::add, Dtype::f32, nullptr, nullptr, nullptr, 0, stream); },
      first(elementwise_variants(Binary::add, Dtype::f32)));
  expect_error([&] { reduction("cufft", SumAxis::rows, nullptr, 0, 0, nullptr, stream); },
               first(reduction_variants(SumAxis::rows)));
  expect_error([&] { softmax("cufft", Dtype::f32, nullptr, nullptr, 0, 0, stream); },
               first(softmax_variants(Dtype::f32)));
  expect_error([&] { transpose("cufft", nullptr, 0, 0, 0, nullptr, 0, stream); },
               first(transpose_variants()));
  expect_error([&] { gemm("cufft", {}, Math::pedantic, stream); }, first(gemm_variants()));
  // A name that exists, but not for this type.
  const std::string_view known = softmax_variants(Dtype::f32).front();
  expect_error([&] { softmax(known, Dtype::i32, nullptr, nullptr, 0, 0, stream); },
               "softmax(i32): there is no variant \"" + std::string(known) + "\"");
}

TEST(Vendor, BadArgumentsAreErrorsThatNameThem) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view transposer = transpose_variants().front();
  const std::string_view adder = elementwise_variants(Binary::add, Dtype::f32).front();
  expect_error([&] { elementwise(adder, Binary::add, Dtype::f32, p, p, p, -1, stream); },
               "n is -1");
  expect_error([&] { elementwise(adder, Binary::add, Dtype::f32, p, nullptr, p, 4, stream); },
               "b is null");
  expect_error([&] { transpose(transposer, p, 2, 4, 3, p + 8, 2, stream); }, "ldx is 3");
  expect_error([&] { transpose(transposer, p, 2, 4, 4, p + 8, 1, stream); }, "ldy is 1");
  const Gemm good = {true, false, 2, 3, 4, 1, p, 2, p, 3, 0, p, 3};
  const auto with = [&](std::int64_t Gemm::*field, std::int64_t value) {
    Gemm bad = good;
    bad.*field = value;
    return [&stream, bad] { gemm(gemm_variants().front(), bad, Math::pedantic, stream); };
  };
  expect_error(with(&Gemm::k, -4), "k is -4");
  expect_error(with(&Gemm::lda, 1), "lda is 1");
  expect_error(with(&Gemm::ldb, 2), "ldb is 2");
  expect_error(with(&Gemm::ldc, 2), "ldc is 2");
}

} // namespace
} // namespace kg::vendor
