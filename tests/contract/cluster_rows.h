// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where cluster variants of row operations are tested and timed.
#pragma once

#include <cstdint>
#include <type_traits>

#include "primitives/cluster_shape.h"
#include "runtime/clusters.h"
#include "tests/contract/rows.h"

namespace kg::card {

// Two slices of a cluster; the second is one pack shorter.
inline constexpr std::int64_t kForCluster = 4104;

// On the host each block is a host thread, and blocks synchronize often. So from `cols` columns on
// only one row is tested, and lengths that other variants handle are not timed.
inline void limit_cluster(Variant& cluster, std::int64_t cols = 5000) {
  cluster.tried = [cols](const Problem& p) { return cols_of(p) < cols || rows_of(p) == 1; };
  cluster.timed = [](const Problem& p) { return cols_of(p) >= kAutomaticClusterCols; };
}

// run_by for operations whose `supports` and `resolved` take the row length.
template <class Run, class Enumerators>
void run_rows_by(Card& card, const Enumerators& enumerators, Run run,
                 std::int64_t cluster_cols = 5000) {
  using Enumerator = std::remove_cvref_t<decltype(*enumerators)>;
  run_by(card, enumerators, run);
  card.resolved = [](const Problem& p) {
    return name(resolved(Enumerator::automatic, cols_of(p)));
  };
  constexpr bool kHasCluster = requires { Enumerator::cluster; };
  if (kHasCluster && !device_has_clusters()) card.variants.pop_back();
  for (Variant& each : card.variants) {
    const auto variant = enumerator_of(enumerators, each.name);
    each.supports = [variant](const Problem& p) { return supports(variant, cols_of(p)); };
    if constexpr (kHasCluster)
      if (variant == Enumerator::cluster) limit_cluster(each, cluster_cols);
  }
}

} // namespace kg::card
