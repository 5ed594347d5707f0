// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The number of persistent clusters that are worth launching (launch.h).
#pragma once

#include "runtime/launch.h"

namespace kg {

namespace detail {
int resident_clusters(const void* kernel, const LaunchConfig& config);
} // namespace detail

// The number of clusters of this configuration, with any grid, that are resident at once. On a GPU
// it is less than the SM count suggests, since a cluster must fit within one group of SMs. Asks the
// driver on the first call only. Throws Error if not even one cluster fits.
template <class... Parameters>
int resident_clusters(void (*kernel)(Parameters...), const LaunchConfig& config) {
  return detail::resident_clusters(reinterpret_cast<const void*>(kernel), config);
}

} // namespace kg
