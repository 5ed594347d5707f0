// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The host's twin of a GPU's exp2.
#include "instructions/exp2.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <cmath>
#include <limits>

namespace kg::executor {
namespace {

__global__ void powers(const float* exponent, float* power, int count) {
  for (int i = 0; i < count; ++i) power[i] = ptx::exp2_flushed(exponent[i]);
}

TEST(Exp2, IsExactAtIntegersAndFlushesWhatIsSubnormal) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<float, float>> right = {{0, 1},
                                                      {1, 2},
                                                      {-1, 0.5F},
                                                      {127, 0x1p127F},
                                                      {-126, 0x1p-126F},
                                                      {-126.5F, 0},
                                                      {-127, 0},
                                                      {-149, 0},
                                                      {-200, 0},
                                                      {128, kInfinity},
                                                      {0x1p-140F, 1},
                                                      {-0.0F, 1},
                                                      {kInfinity, kInfinity},
                                                      {-kInfinity, 0}};
  std::vector<float> exponents = {std::numeric_limits<float>::quiet_NaN(), -1.5F};
  for (const auto& [exponent, power] : right) exponents.push_back(exponent);
  Stream stream;
  const auto from = DeviceBuffer<float>::from_host(exponents, stream);
  const DeviceBuffer<float> to(exponents.size());
  launch(powers, {.grid = 1, .block = 1}, from.data(), to.data(),
         static_cast<int>(exponents.size()));
  const std::vector<float> power = to.to_host(stream);
  EXPECT_TRUE(std::isnan(power[0]));
  EXPECT_NEAR(power[1], std::exp2(-1.5), 0x1p-24);
  for (std::size_t i = 0; i < right.size(); ++i)
    EXPECT_EQ(power[i + 2], right[i].second) << "2^" << right[i].first;
}

} // namespace
} // namespace kg::executor
