// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"
#include "runtime/clusters.h"
#include "runtime/error.h"
#include "runtime/hopper_device.h"
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

thread_local bool is_hopper = false; // whether a HopperDevice exists

void become_hopper(DeviceProperties& p) {
  p.compute_major = host::kHopperMajor;
  p.compute_minor = host::kHopperMinor;
  p.shared_bytes_per_block_optin = host::kHopperSharedBytesOptIn;
  p.shared_bytes_per_sm = host::kHopperSharedBytesPerSm;
}

} // namespace

HopperDevice::HopperDevice() : before_(is_hopper) { is_hopper = true; }
HopperDevice::~HopperDevice() { is_hopper = before_; }

const DeviceProperties& device_properties() {
  static const DeviceProperties properties = [] {
    const Presented device = presented();
    const bool small = device == Presented::small;
    DeviceProperties p;
    p.name = "host";
    p.compute_major = host::kComputeMajor;
    p.compute_minor = host::kComputeMinor;
    p.sm_count = small ? host::kSmallSmCount : host::kSmCount;
    p.max_threads_per_block = host::kMaxThreadsPerBlock;
    p.max_threads_per_sm = host::kMaxThreadsPerSm;
    p.shared_bytes_per_block = host::kSharedBytesDefault;
    p.shared_bytes_per_block_optin = small ? host::kSmallSharedBytesOptIn : host::kSharedBytesOptIn;
    p.shared_bytes_per_sm = host::kSharedBytesPerSm;
    p.l2_bytes = host::kL2Bytes;
    p.global_bytes = physical_bytes(_SC_PHYS_PAGES);
    p.max_grid_x = host::kMaxGridX;
    p.max_grid_yz = small ? host::kSmallMaxGridYz : host::kMaxGridYz;
    if (device == Presented::hopper) become_hopper(p);
    return p;
  }();
  const host::GridWindow* const window = host::grid_window();
  const bool is_wide = window && window->sm_count() != 0;
  if (!is_wide && !is_hopper) return properties;
  thread_local DeviceProperties changed;
  changed = properties;
  if (is_wide) changed.sm_count = window->sm_count();
  if (is_hopper) become_hopper(changed);
  return changed;
}

bool device_has_clusters() { return !ptx_run::enabled() || ptx_run::architecture() >= 90; }

// Assumes one block per SM, and room for at least one cluster.
int detail::resident_clusters(const void*, const LaunchConfig& config) {
  const dim3& cluster = config.cluster;
  const auto blocks = static_cast<int>(cluster.x * cluster.y * cluster.z);
  return std::max(1, device_properties().sm_count / blocks);
}

std::string device_unavailable_reason() { return {}; }
std::size_t device_free_bytes() { return physical_bytes(_SC_AVPHYS_PAGES); }
void synchronize_device() {}

} // namespace kg
