// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"
#include "runtime/clusters.h"
#include "runtime/cuda/status.h"
#include "runtime/environment.h"
#include "runtime/error.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <mutex>

namespace kg {
namespace {

// Whether this project's libcudart replaces CUDA's.
bool is_emulated() { return dlsym(RTLD_DEFAULT, "kernelgrade_emulated_device") != nullptr; }

// Why an emulated device does not count as a GPU here; "" if it does.
std::string emulation_reason() {
  if (is_set("KERNELGRADE_REQUIRE_GPU"))
    return "the GPU is emulated (kernels/cuda/binary), and KERNELGRADE_REQUIRE_GPU=1 asks for a "
           "real "
           "one";
  if (!is_set("KERNELGRADE_EMULATED"))
    return "the GPU is emulated (kernels/cuda/binary); KERNELGRADE_EMULATED=1 runs on it all the "
           "same";
  return "";
}

DeviceProperties read_properties(int device) {
  cudaDeviceProp vendor{};
  KG_CHECK(cudaGetDeviceProperties(&vendor, device));
  DeviceProperties ours;
  ours.name = vendor.name;
  ours.compute_major = vendor.major;
  ours.compute_minor = vendor.minor;
  ours.sm_count = vendor.multiProcessorCount;
  ours.warp_size = vendor.warpSize;
  ours.max_threads_per_block = vendor.maxThreadsPerBlock;
  ours.max_threads_per_sm = vendor.maxThreadsPerMultiProcessor;
  ours.shared_bytes_per_block = vendor.sharedMemPerBlock;
  ours.shared_bytes_per_block_optin = vendor.sharedMemPerBlockOptin;
  ours.shared_bytes_per_sm = vendor.sharedMemPerMultiprocessor;
  ours.l2_bytes = static_cast<std::size_t>(vendor.l2CacheSize);
  ours.global_bytes = vendor.totalGlobalMem;
  ours.max_grid_x = vendor.maxGridSize[0];
  ours.max_grid_yz = vendor.maxGridSize[1];
  ours.emulated = is_emulated();
  return ours;
}

// "13.0" for the vendor's 13000.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string driver_reason(const std::string& vendor_text) {
  int driver = 0;
  if (describe(cudaDriverGetVersion(&driver)).ok && driver == 0)
    return "no NVIDIA driver is installed (" + vendor_text + ")";
  return fmt::format("the NVIDIA driver is too old for CUDA {} (it supports {}): {}",
                     version_text(CUDART_VERSION), version_text(driver), vendor_text);
}

} // namespace

// Cached: reading the properties takes milliseconds, and every launch is checked against them. A
// map, because references to its elements stay valid.
const DeviceProperties& device_properties() {
  static std::mutex mutex;
  static std::map<int, DeviceProperties> known;
  int device = 0;
  KG_CHECK(cudaGetDevice(&device));
  std::lock_guard lock(mutex);
  auto found = known.find(device);
  if (found == known.end()) found = known.emplace(device, read_properties(device)).first;
  return found->second;
}

bool device_has_clusters() {
  return !device_unavailable_reason().empty() || device_properties().compute_major >= 9;
}

std::string device_unavailable_reason() {
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (const Status status = describe(counted); !status.ok) {
    if (counted == cudaErrorInsufficientDriver) return driver_reason(status.text);
    return "no CUDA device can be used: " + status.text;
  }
  if (count == 0) return "the driver sees no CUDA device; is CUDA_VISIBLE_DEVICES empty?";
  // The count includes devices that are broken or exclusively in use. Only creating a context
  // detects them; cudaFree creates one.
  if (const Status status = describe(cudaFree(nullptr)); !status.ok)
    return "the CUDA device cannot be used: " + status.text;
  try {
    return is_emulated() ? emulation_reason() : "";
  } catch (const Error& error) { // a switch that is neither 0 nor 1
    return error.what();
  }
}

std::size_t device_free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  KG_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

void synchronize_device() { KG_CHECK(cudaDeviceSynchronize()); }

} // namespace kg
