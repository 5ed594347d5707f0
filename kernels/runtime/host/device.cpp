// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include "runtime/host/virtual_device.h"

#include <unistd.h>

namespace kg {
namespace {

std::size_t physical_bytes(int pages) {
  return static_cast<std::size_t>(sysconf(pages)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

const DeviceProperties& device_properties() {
  static const DeviceProperties properties = [] {
    DeviceProperties p;
    p.name = "host";
    p.compute_major = host::kComputeMajor;
    p.compute_minor = host::kComputeMinor;
    p.sm_count = host::kSmCount;
    p.max_threads_per_block = host::kMaxThreadsPerBlock;
    p.max_threads_per_sm = host::kMaxThreadsPerSm;
    p.shared_bytes_per_block = host::kSharedBytesDefault;
    p.shared_bytes_per_block_optin = host::kSharedBytesOptIn;
    p.shared_bytes_per_sm = host::kSharedBytesPerSm;
    p.l2_bytes = host::kL2Bytes;
    p.global_bytes = physical_bytes(_SC_PHYS_PAGES);
    p.max_grid_x = host::kMaxGridX;
    p.max_grid_yz = host::kMaxGridYz;
    return p;
  }();
  return properties;
}

std::string device_unavailable_reason() { return {}; }
std::size_t device_free_bytes() { return physical_bytes(_SC_AVPHYS_PAGES); }
void synchronize_device() {}

} // namespace kg
