// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/concat/concat.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

constexpr std::array kMoved = {Dtype::i8, Dtype::f16, Dtype::f32, Dtype::f64};

// One part of each extent; the elements of all are numbered through.
TEST(Vendor, ConcatAndSplitKnowWhereEveryPartBegins) {
  Stream stream;
  constexpr std::int64_t kOuter = 3;
  constexpr std::int64_t kInner = 2;
  const std::vector<std::int64_t> extents = {4, 0, 1, 7};
  const ConcatShape shape{kOuter, kInner, extents};
  std::vector<std::vector<double>> parts;
  std::vector<double> whole(kOuter * 12 * kInner);
  std::size_t number = 0;
  std::int64_t first = 0;
  for (const std::int64_t extent : extents) {
    std::vector<double> part;
    for (std::int64_t o = 0; o < kOuter; ++o)
      for (std::int64_t i = 0; i < extent * kInner; ++i) {
        part.push_back(small_integer(++number));
        whole[static_cast<std::size_t>((o * 12 + first) * kInner + i)] = part.back();
      }
    parts.push_back(part);
    first += extent;
  }
  for (const Dtype dtype : kMoved)
    for (const std::string_view variant : concat_variants(dtype)) {
      SCOPED_TRACE(fmt::format("{} {}", variant, name(dtype)));
      std::vector<Bytes> from;
      std::vector<Bytes> to;
      std::vector<const void*> sources;
      std::vector<void*> targets;
      for (const auto& part : parts) {
        from.push_back(upload(dtype, part, stream));
        to.push_back(upload(dtype, std::vector<double>(part.size(), 77), stream));
        sources.push_back(from.back().data());
        targets.push_back(to.back().data());
      }
      const Bytes joined = upload(dtype, std::vector<double>(whole.size(), 77), stream);
      concat(variant, dtype, sources, joined.data(), shape, stream);
      EXPECT_EQ(download(dtype, joined, stream), whole);
      split(variant, dtype, joined.data(), targets, shape, stream);
      for (std::size_t p = 0; p < parts.size(); ++p)
        EXPECT_EQ(download(dtype, to[p], stream), parts[p]) << "part " << p;
    }
}

TEST(Vendor, ConcatExistsForEverySize) {
  for (const Dtype dtype : kMoved) EXPECT_GE(concat_variants(dtype).size(), 2u);
}

TEST(Vendor, ConcatNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  const std::vector<const void*> parts = {memory.data(), nullptr};
  const auto run = [&](std::string_view variant, std::int64_t outer,
                       std::vector<std::int64_t> extents) {
    concat(variant, Dtype::f32, parts, memory.data() + 8, {outer, 1, extents}, stream);
  };
  expect_error([&] { run("cufft", 1, {1, 0}); }, "use one of: memcpy");
  expect_error([&] { run("memcpy", -1, {1, 0}); }, "outer is -1");
  expect_error([&] { run("memcpy", 1, {1, -2}); }, "an extent is -2");
  expect_error([&] { run("memcpy", 1, {1}); }, "2 pointers for 1 extents");
  expect_error([&] { run("memcpy", 1, {1, 2}); }, "a part is null");
  const std::vector<std::int64_t> extents = {4};
  void* const part = memory.data();
  expect_error(
      [&] {
        split("memcpy", Dtype::f32, nullptr, {&part, 1}, {1, 1, extents}, stream);
      },
      "whole is null");
}

} // namespace
} // namespace kg::vendor
