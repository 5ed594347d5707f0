// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The device that runs the kernels: a GPU, or the host backend's one fixed virtual device.
#pragma once

#include <cstddef>
#include <string>

namespace kg {

struct DeviceProperties {
  std::string name;                       // as the vendor spells it; "host" on the host backend
  int compute_major = 0;                  // compute capability
  int compute_minor = 0;                  //
  int sm_count = 0;                       // multiprocessors
  int warp_size = 32;                     // lanes
  int max_threads_per_block = 0;          //
  int max_threads_per_sm = 0;             //
  std::size_t shared_bytes_per_block = 0; // without opting in (48 KiB)
  std::size_t shared_bytes_per_block_optin = 0; // the most that a launch may request
  std::size_t shared_bytes_per_sm = 0;          //
  std::size_t l2_bytes = 0;                     //
  std::size_t global_bytes = 0;                 // total device memory
  int max_grid_x = 0;                           // blocks
  int max_grid_yz = 0;                          //
  bool emulated = false; // cuda: nvcc's code on the executor (kernels/cuda/binary), no GPU
};

// The device's name as used in paths and reports: lower case, every run of other characters than
// letters and digits replaced by one '-', none at the ends ("NVIDIA H200" -> "nvidia-h200").
std::string device_slug(const std::string& name);

// Properties of the current device, read once. Throws Error if there is no device.
const DeviceProperties& device_properties();

// The device's compute capability as PTX targets spell it: 80, 90.
inline int compute_capability() {
  const DeviceProperties& device = device_properties();
  return 10 * device.compute_major + device.compute_minor;
}

// Empty if a kernel can run here; otherwise the reason in words (no driver, no device, ...). An
// emulated GPU counts as a device if KERNELGRADE_EMULATED=1 is set, but never if
// KERNELGRADE_REQUIRE_GPU=1 asks for a real one. Never throws.
std::string device_unavailable_reason();

// Bytes that can still be allocated. Host: physical memory available.
std::size_t device_free_bytes();

// Waits for all work on the device and throws Error if any of it failed.
void synchronize_device();

} // namespace kg
