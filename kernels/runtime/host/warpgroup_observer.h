// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma events for the observer (observer.h): the ranges of shared memory that a warpgroup reads by
// the asynchronous proxy, and until when. `group` stands for the warpgroup: passing it as a barrier
// (Observer::barrier_passed) synchronizes with the reads that ended before. Bulk copies
// (bulk_copy.h) report here what few observers need.
#pragma once

#include "runtime/error.h"
#include "runtime/host/tensor_map.h"

#include <cstddef>
#include <optional>

namespace kg::host {

struct WarpgroupProduct;

struct WarpgroupObserver {
  virtual ~WarpgroupObserver() = default;
  // All threads of the running thread's warpgroup have issued the product.
  virtual void warpgroup_multiplies(const WarpgroupProduct&) {}
  // A read by the running thread, for its warpgroup, until it has waited. As tiles of this swizzle.
  virtual void warpgroup_reads(const void* /*group*/, const void* /*from*/, std::size_t /*bytes*/,
                               Swizzle, Location) {}
  virtual void warpgroup_has_read(const void* /*group*/, const void* /*from*/,
                                  std::size_t /*bytes*/) {}
  // Bulk loads issued from now on write tiles of this swizzle; nullopt: unknown.
  virtual void tiles_swizzled(std::optional<Swizzle>) {}
  // The running block ends, and its thread of this rank has not waited until the bulk store at
  // `where` has read shared memory.
  virtual void bulk_store_not_awaited(std::size_t /*bytes*/, unsigned /*thread*/,
                                      Location /*where*/) {}
  // A bulk reduction by the running thread updates a contiguous range atomically, at any time until
  // the thread has waited for it, or until its bytes are complete at an mbarrier. Its reads are
  // reported as those of a bulk store or of a send.
  virtual void bulk_reduction_updates(void* /*to*/, std::size_t /*bytes*/, Location) {}
  virtual void bulk_reduction_updated(void* /*to*/, std::size_t /*bytes*/) {}
  // The running thread sends a range of its block's shared memory to a block of the cluster. The
  // copy, and with it an update there, completes at `barrier`; `sender` is the thread's rank.
  virtual void bulk_send_issued(const void* /*from*/, std::size_t /*bytes*/,
                                const void* /*barrier*/, Location) {}
  virtual void bulk_send_read(const void* /*from*/, std::size_t /*bytes*/, unsigned /*sender*/,
                              const void* /*barrier*/) {}
  virtual void bulk_send_updated(void* /*to*/, std::size_t /*bytes*/, unsigned /*sender*/,
                                 const void* /*barrier*/) {}
};

extern WarpgroupObserver* warpgroup_observer; // null without an observer

} // namespace kg::host
