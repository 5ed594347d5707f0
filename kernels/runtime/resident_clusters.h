// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How many clusters of blocks that stay are worth launching (launch.h).
#pragma once

#include "runtime/launch.h"

namespace kg {

namespace detail {
int resident_clusters(const void* kernel, const LaunchConfig& config);
} // namespace detail

// How many clusters of such a launch, whatever its grid, are resident at once: fewer than there are
// multiprocessors for, which on a GPU stand in groups that no cluster leaves. The driver is asked
// the first time. Throws Error where no cluster finds room.
template <class... Parameters>
int resident_clusters(void (*kernel)(Parameters...), const LaunchConfig& config) {
  return detail::resident_clusters(reinterpret_cast<const void*>(kernel), config);
}

} // namespace kg
