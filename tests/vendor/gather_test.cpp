// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/vendor/data.h"
#include "vendor/gather/gather.h"

#include <fmt/format.h>

namespace kg::vendor {
namespace {

constexpr std::array kMoved = {Dtype::i8, Dtype::f16, Dtype::f32, Dtype::f64};

template <class Index>
void expect_gathered(Dtype dtype, const GatherShape& shape, const std::vector<Index>& index,
                     const std::vector<double>& table, const std::vector<double>& expected) {
  Stream stream;
  const Bytes from = upload(dtype, table, stream);
  const auto device_index = DeviceBuffer<Index>::from_host(index, stream);
  for (const std::string_view variant : gather_variants(dtype)) {
    SCOPED_TRACE(fmt::format("{} {}, {} bytes per index", variant, name(dtype), sizeof(Index)));
    const Bytes y = upload(dtype, std::vector<double>(expected.size(), 77), stream);
    gather(variant, dtype, from.data(), device_index.data(), sizeof(Index), y.data(), shape,
           stream);
    EXPECT_EQ(download(dtype, y, stream), expected);
  }
}

TEST(Vendor, GatherPicksRowsOfEverySlice) {
  const std::vector<std::int64_t> index = {4, 0, 0, 3, 1, 4, 2};
  for (const GatherShape& shape : {GatherShape{2, 5, 3, 7}, {1, 5, 1, 7}, {3, 5, 1, 7}}) {
    std::vector<double> table;
    for (std::int64_t i = 0; i < shape.outer * shape.extent * shape.inner; ++i)
      table.push_back(small_integer(static_cast<std::size_t>(i)));
    std::vector<double> expected;
    for (std::int64_t o = 0; o < shape.outer; ++o)
      for (const std::int64_t row : index)
        for (std::int64_t c = 0; c < shape.inner; ++c)
          expected.push_back(
              table[static_cast<std::size_t>((o * shape.extent + row) * shape.inner + c)]);
    for (const Dtype dtype : kMoved) {
      expect_gathered(dtype, shape, index, table, expected);
      expect_gathered(dtype, shape, std::vector<std::int32_t>(index.begin(), index.end()), table,
                      expected);
    }
  }
}

TEST(Vendor, GatherExistsForEverySize) {
  for (const Dtype dtype : kMoved) EXPECT_FALSE(gather_variants(dtype).empty());
}

TEST(Vendor, GatherNamesBadArguments) {
  Stream stream;
  const DeviceBuffer<float> memory(16);
  float* const p = memory.data();
  const auto run = [&](std::string_view variant, const void* index, std::size_t index_bytes,
                       std::int64_t count) {
    gather(variant, Dtype::f32, p, index, index_bytes, p + 8, {1, 2, 2, count}, stream);
  };
  expect_error([&] { run("cufft", p, 4, 1); }, "use one of: thrust");
  expect_error([&] { run("thrust", p, 4, -1); }, "count is -1");
  expect_error([&] { run("thrust", p, 2, 1); }, "index_bytes is 2");
  expect_error([&] { run("thrust", nullptr, 4, 1); }, "index is null");
}

} // namespace
} // namespace kg::vendor
