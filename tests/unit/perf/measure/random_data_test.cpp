// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/random_data.h"

#include <gtest/gtest.h>

namespace kg::perf {
namespace {

using test::Tensor;

// The period is uploaded once and doubled on the device; the last copy is cut off.
TEST(RandomData, OnTheDeviceItIsWhatItsIndexSays) {
  using Data = RandomData<float>;
  Stream stream;
  for (const std::int64_t size : {std::int64_t{1}, Data::kPeriod - 1, Data::kPeriod,
                                  Data::kPeriod + 1, 2 * Data::kPeriod, 5 * Data::kPeriod + 7}) {
    const Data data(size, Tensor::a, stream);
    std::vector<float> read(static_cast<std::size_t>(size));
    copy_to_host(read.data(), data.data(), read.size() * sizeof(float), stream);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < size; ++i)
      wrong += read[static_cast<std::size_t>(i)] != data.at(i);
    EXPECT_EQ(wrong, 0) << size;
  }
}

// A row's data does not depend on the rows before it, whose periods are kept.
TEST(RandomData, IsTheSameAfterALongerAndAShorterOne) {
  Stream stream;
  const RandomData<float> before(100, Tensor::b, stream);
  const RandomData<float> longer(5000, Tensor::b, stream);
  const RandomData<float> after(100, Tensor::b, stream);
  const auto fresh = test::elements<float>(test::random_numbers(Dtype::f32, 100, Tensor::b).values);
  for (std::int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(before.at(i), longer.at(i));
    EXPECT_EQ(after.at(i), before.at(i));
    EXPECT_EQ(after.at(i), fresh[static_cast<std::size_t>(i)]);
  }
  const RandomData<float> other(100, Tensor::c, stream);
  EXPECT_NE(other.at(0), after.at(0));
}

} // namespace
} // namespace kg::perf
