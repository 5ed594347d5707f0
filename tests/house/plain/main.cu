// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An ordinary program that exports no symbols and launches a kernel. cmake/Plain.cmake links it
// with each library as a whole.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/device_code.h"
#include "runtime/launch.h"

namespace {

__global__ void write_width(unsigned* out) { out[threadIdx.x] = blockDim.x; }

} // namespace

int main() {
  constexpr unsigned kThreads = 64;
  kg::Stream stream;
  const kg::DeviceBuffer<unsigned> out(kThreads);
  kg::launch(write_width, {.grid = 1, .block = kThreads, .stream = &stream}, out.data());
  const std::vector<unsigned> widths = out.to_host(stream);
  const auto right = std::count(widths.begin(), widths.end(), kThreads);
  std::printf("%d of %u threads know the width of their block\n", static_cast<int>(right),
              kThreads);
  return right == kThreads ? 0 : 1;
}
