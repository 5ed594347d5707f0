// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where variants by clusters are tried and timed, for the cards of norms and of their gradients.
#pragma once

#include <cstdint>

#include "primitives/cluster_shape.h"
#include "runtime/clusters.h"
#include "tests/contract/rows.h"

namespace kg::card::norm {

// Two slices of a cluster, the second of which has a pack less.
inline constexpr std::int64_t kForCluster = 4104;

// Each block is a thread of the host's, and they meet often: few of them, and no times of rows that
// other variants are for.
inline void limit_cluster(Variant& cluster) {
  cluster.tried = [](const Problem& p) { return cols_of(p) < 5000 || rows_of(p) == 1; };
  cluster.timed = [](const Problem& p) { return cols_of(p) >= kAutomaticClusterCols; };
}

} // namespace kg::card::norm
