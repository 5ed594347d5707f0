// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where variants by clusters are tried and timed, for the cards of operations on rows.
#pragma once

#include <cstdint>

#include "primitives/cluster_shape.h"
#include "runtime/clusters.h"
#include "tests/contract/rows.h"

namespace kg::card {

// Two slices of a cluster, the second of which has a pack less.
inline constexpr std::int64_t kForCluster = 4104;

// Each block is a thread of the host's, and they meet often: few of them, one row from `cols`
// columns on, and no times of rows that other variants are for.
inline void limit_cluster(Variant& cluster, std::int64_t cols = 5000) {
  cluster.tried = [cols](const Problem& p) { return cols_of(p) < cols || rows_of(p) == 1; };
  cluster.timed = [](const Problem& p) { return cols_of(p) >= kAutomaticClusterCols; };
}

} // namespace kg::card
