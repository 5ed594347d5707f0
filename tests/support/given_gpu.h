// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The GPU that CTest assigned to this test on a machine with several (cmake/Gpus.cmake).
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace kg::test {

// The number in "id:3,slots:1", in nvidia-smi's order; empty if there is none.
inline std::string gpu_in(std::string_view resources) {
  constexpr std::string_view kId = "id:";
  if (!resources.starts_with(kId)) return "";
  resources.remove_prefix(kId.size());
  return std::string(resources.substr(0, resources.find(',')));
}

// Hides the other GPUs from this process. Call it before the first use of a device.
inline void take_given_gpu() {
  const char* given = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");
  const std::string gpu = given ? gpu_in(given) : "";
  if (gpu.empty()) return;
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1); // nvidia-smi's order
  setenv("CUDA_VISIBLE_DEVICES", gpu.c_str(), 1);
}

} // namespace kg::test
