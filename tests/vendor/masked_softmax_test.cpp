// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_masked_softmax.h"
#include "tests/vendor/data.h"
#include "vendor/masked_softmax/masked_softmax.h"

#include <fmt/format.h>

#include <limits>

namespace kg::vendor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Vendor, MaskedSoftmaxExistsInF32AndNotInI32) {
  EXPECT_FALSE(masked_softmax_variants(Dtype::f32).empty());
  EXPECT_TRUE(masked_softmax_variants(Dtype::i32).empty());
}

// The addend is every sequence's; without the scale the results differ by tenths.
TEST(Vendor, MaskedSoftmaxScalesAndMasksEachSequence) {
  Stream stream;
  constexpr float kScale = 0.25f;
  for (const Dtype dtype : kFloats)
    for (const std::string_view variant : masked_softmax_variants(dtype))
      for (const std::int64_t sequences : {1, 3})
        for (const std::int64_t cols : {5, 70}) {
          SCOPED_TRACE(fmt::format("{} {} {} x 4 x {}", variant, name(dtype), sequences, cols));
          constexpr std::int64_t kQueries = 4;
          const std::int64_t rows = sequences * kQueries;
          std::vector<double> x, addend;
          for (std::int64_t i = 0; i < rows * cols; ++i)
            x.push_back(2 * small_integer(static_cast<std::size_t>(i)));
          const auto keep = test::causal_keep(rows, cols, kQueries);
          for (std::int64_t i = 0; i < kQueries * cols; ++i)
            addend.push_back(keep[static_cast<std::size_t>(i)] != 0 ? 0 : -kInfinity);
          const auto expected = test::masked_softmax_oracle(kScale, x, keep, rows, cols);
          const Bytes device_x = upload(dtype, x, stream);
          const Bytes device_addend = upload(dtype, addend, stream);
          Bytes y(x.size() * size_of(dtype));
          masked_softmax(variant, {dtype, kScale, sequences, kQueries, cols}, device_x.data(),
                         device_addend.data(), y.data(), stream);
          const std::vector<double> actual = download(dtype, y, stream);
          const double tolerance = dtype == Dtype::f32 ? 1e-5 : 1e-2;
          for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(actual[i], expected.value[i], tolerance) << i;
        }
}

TEST(Vendor, MaskedSoftmaxOfNothingWritesNothing) {
  Stream stream;
  DeviceBuffer<float> y(1);
  for (const std::string_view variant : masked_softmax_variants(Dtype::f32))
    masked_softmax(variant, {Dtype::f32, 1, 1, 0, 4}, nullptr, nullptr, y.data(), stream);
  EXPECT_TRUE(is_poison(download(y, stream)[0]));
}

TEST(Vendor, MaskedSoftmaxNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const std::string_view known = masked_softmax_variants(Dtype::f32).front();
  const auto run = [&](std::string_view variant, const float* addend, std::int64_t queries) {
    masked_softmax(variant, {Dtype::f32, 1, 1, queries, 4}, p, addend, p, stream);
  };
  expect_error([&] { run("cufft", p, 1); }, "use one of: " + std::string(known));
  expect_error([&] { run(known, p, -1); }, "queries is -1");
  expect_error([&] { run(known, nullptr, 1); }, "addend is null");
}

} // namespace
} // namespace kg::vendor
