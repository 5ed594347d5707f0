// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/vendor.h"

namespace kg::vendor::cub_device {

std::string version();

// All of it (DeviceReduce::Sum) and rows (DeviceSegmentedReduce::Sum).
bool reduction_supported(SumAxis axis);
void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream& stream);

} // namespace kg::vendor::cub_device
