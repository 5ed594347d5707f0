// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The host's twin of a GPU's reciprocal.
#include "instructions/reciprocal.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <cmath>
#include <limits>

namespace kg::executor {
namespace {

__global__ void reciprocals(const float* x, float* reciprocal, int count) {
  for (int i = 0; i < count; ++i) reciprocal[i] = ptx::reciprocal_flushed(x[i]);
}

TEST(Reciprocal, FlushesWhatIsSubnormalAndItsOwnSubnormalResults) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<float, float>> right = {
      {1, 1},         {-4, -0.25F},          {0x1p126F, 0x1p-126F},  {0x1p127F, 0},
      {-0x1p127F, 0}, {0x1p-126F, 0x1p126F}, {0x1p-127F, kInfinity}, {-0x1p-140F, -kInfinity},
      {0, kInfinity}, {-0.0F, -kInfinity},   {kInfinity, 0}};
  std::vector<float> numbers = {std::numeric_limits<float>::quiet_NaN(), 3};
  for (const auto& [x, reciprocal] : right) numbers.push_back(x);
  Stream stream;
  const auto from = DeviceBuffer<float>::from_host(numbers, stream);
  const DeviceBuffer<float> to(numbers.size());
  launch(reciprocals, {.grid = 1, .block = 1}, from.data(), to.data(),
         static_cast<int>(numbers.size()));
  const std::vector<float> result = to.to_host(stream);
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_NEAR(result[1], 1 / 3.0, 0x1p-25);
  for (std::size_t i = 0; i < right.size(); ++i)
    EXPECT_EQ(result[i + 2], right[i].second) << "1 / " << right[i].first;
}

} // namespace
} // namespace kg::executor
