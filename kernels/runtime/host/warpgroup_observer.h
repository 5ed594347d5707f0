// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What wgmma tells whoever watches (observer.h): which ranges of shared memory a warpgroup reads by
// the asynchronous proxy, and until when. `group` stands for the warpgroup: who passes it as a
// barrier (Observer::barrier_passed) knows of the reads that have ended before.
#pragma once

#include "runtime/error.h"
#include "runtime/host/tensor_map.h"

#include <cstddef>
#include <optional>

namespace kg::host {

struct WarpgroupProduct;

struct WarpgroupObserver {
  virtual ~WarpgroupObserver() = default;
  // All threads of a warpgroup, that of the running one, have issued it.
  virtual void warpgroup_multiplies(const WarpgroupProduct&) {}
  // By the running thread, for its warpgroup; until it has waited. As tiles of this swizzle.
  virtual void warpgroup_reads(const void* /*group*/, const void* /*from*/, std::size_t /*bytes*/,
                               Swizzle, Location) {}
  virtual void warpgroup_has_read(const void* /*group*/, const void* /*from*/,
                                  std::size_t /*bytes*/) {}
  // The bulk loads that are issued from now on write tiles of this swizzle; none: of no known one.
  virtual void tiles_swizzled(std::optional<Swizzle>) {}
};

extern WarpgroupObserver* warpgroup_observer; // null when nothing watches

} // namespace kg::host
