// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"
#include "runtime/clusters.h"
#include "runtime/error.h"
#include "runtime/host/grid_window.h"
#include "runtime/host/virtual_device.h"
#include "runtime/ptx/library.h"
#include "runtime/resident_clusters.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace kg {
namespace {

std::size_t physical_bytes(int pages) {
  return static_cast<std::size_t>(sysconf(pages)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

enum class Presented { usual, small, hopper };

Presented presented() {
  const char* const value = std::getenv("KERNELGRADE_VIRTUAL_DEVICE");
  if (value == nullptr) return Presented::usual;
  if (std::string_view(value) == "small") return Presented::small;
  if (std::string_view(value) == "sm_90a") return Presented::hopper;
  fail("KERNELGRADE_VIRTUAL_DEVICE is \"" + std::string(value) +
       "\"; use small or sm_90a, or leave it unset");
}

} // namespace

const DeviceProperties& device_properties() {
  static const DeviceProperties properties = [] {
    const Presented device = presented();
    const bool small = device == Presented::small;
    const bool hopper = device == Presented::hopper;
    DeviceProperties p;
    p.name = "host";
    p.compute_major = hopper ? host::kHopperMajor : host::kComputeMajor;
    p.compute_minor = hopper ? host::kHopperMinor : host::kComputeMinor;
    p.sm_count = small ? host::kSmallSmCount : host::kSmCount;
    p.max_threads_per_block = host::kMaxThreadsPerBlock;
    p.max_threads_per_sm = host::kMaxThreadsPerSm;
    p.shared_bytes_per_block = host::kSharedBytesDefault;
    p.shared_bytes_per_block_optin = small    ? host::kSmallSharedBytesOptIn
                                     : hopper ? host::kHopperSharedBytesOptIn
                                              : host::kSharedBytesOptIn;
    p.shared_bytes_per_sm = hopper ? host::kHopperSharedBytesPerSm : host::kSharedBytesPerSm;
    p.l2_bytes = host::kL2Bytes;
    p.global_bytes = physical_bytes(_SC_PHYS_PAGES);
    p.max_grid_x = host::kMaxGridX;
    p.max_grid_yz = small ? host::kSmallMaxGridYz : host::kMaxGridYz;
    return p;
  }();
  const host::GridWindow* const window = host::grid_window();
  if (!window || window->sm_count() == 0) return properties;
  thread_local DeviceProperties wide;
  wide = properties;
  wide.sm_count = window->sm_count();
  return wide;
}

bool device_has_clusters() { return !ptx_run::enabled() || ptx_run::architecture() >= 90; }

// As if each multiprocessor had one block, and the device room for a cluster.
int detail::resident_clusters(const void*, const LaunchConfig& config) {
  const dim3& cluster = config.cluster;
  const auto blocks = static_cast<int>(cluster.x * cluster.y * cluster.z);
  return std::max(1, device_properties().sm_count / blocks);
}

std::string device_unavailable_reason() { return {}; }
std::size_t device_free_bytes() { return physical_bytes(_SC_AVPHYS_PAGES); }
void synchronize_device() {}

} // namespace kg
