// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the threads of a block wait for each other: barriers, named barriers, warp collectives,
// convergence.
#include "runtime/host/block.h"

#include <bit>
#include <fmt/format.h>

namespace kg::host {

// Ends in tail calls: a frame less for every thread that waits.
void Block::barrier(const char* name, Location where) {
  if (barrier_arrived_ == 0) {
    barrier_where_ = where;
  } else if (barrier_where_.line != where.line || barrier_where_.file != where.file) [[unlikely]] {
    if (!same_place(barrier_where_, where)) diverge(name, where);
  }
  if (++barrier_arrived_ == alive_) return release_barrier();
  at_barrier_[current_ / kWarpSize] |= 1u << lane();
  suspend(Wait::barrier, 0, name, where);
}

Block::Votes Block::vote(bool predicate, const char* name, Location where) {
  barrier_true_ += predicate;
  barrier(name, where);
  return barrier_votes_;
}

void Block::release_barrier() {
  barrier_votes_ = {barrier_true_, barrier_true_ != 0, barrier_true_ == barrier_arrived_};
  barrier_arrived_ = barrier_true_ = 0;
  for (unsigned w = 0; w < warps_; ++w) {
    make_ready(w, at_barrier_[w]);
    at_barrier_[w] = 0;
  }
}

void Block::named_barrier(unsigned id, unsigned threads, bool wait, Location where) {
  if (id >= kNamedBarriers || threads == 0 || threads % kWarpSize != 0) {
    trap(fmt::format("named barrier {} for {} threads; the id must be below 16 and the count a "
                     "positive multiple of 32",
                     id, threads),
         where);
  }
  NamedBarrier& barrier = named_[id];
  if (++barrier.arrived == threads) {
    for (unsigned rank : barrier.waiting) make_ready(rank / kWarpSize, 1u << rank % kWarpSize);
    barrier.waiting.clear();
    barrier.arrived = 0;
  } else if (wait) {
    barrier.waiting.push_back(current_);
    suspend(Wait::named_barrier, id, "named barrier", where);
  }
}

void Block::collective(unsigned mask, void* payload, Resolve resolve, const char* name,
                       Location where) {
  const unsigned w = current_ / kWarpSize;
  const unsigned bit = 1u << lane();
  Warp& warp = warp_[w];
  if ((mask & bit) == 0) {
    trap(fmt::format(
             "{} was called by a lane that its mask 0x{:x} does not name; a mask must contain "
             "the calling lane",
             name, mask),
         where);
  }
  warp.payload[lane()] = payload;
  unsigned g = 0;
  while (g < warp.groups &&
         (warp.collectives[g].mask != mask || warp.collectives[g].resolve != resolve))
    ++g;
  if (g == warp.groups) warp.collectives[warp.groups++] = {mask, 0, resolve};
  Collective& group = warp.collectives[g];
  group.arrived |= bit;
  if (group.arrived == (mask & alive_lanes_[w])) {
    const unsigned lanes = group.arrived;
    group = warp.collectives[--warp.groups];
    resolve(warp.payload, lanes);
    make_ready(w, lanes & ~bit);
    return;
  }
  suspend(Wait::collective, mask, name, where);
}

unsigned Block::converge(Location where) {
  const unsigned w = current_ / kWarpSize;
  const unsigned bit = 1u << lane();
  warp_[w].converging |= bit;
  // Alone, if nothing else of the warp can come here.
  suspend(Wait::converge, 0, "coalesced_threads or __activemask", where);
  return warp_[w].converged[current_ % kWarpSize];
}

// Lets go the lanes that wait in converge(), one group per call site.
bool Block::release_converging(unsigned w) {
  Warp& warp = warp_[w];
  const unsigned parked = warp.converging;
  if (parked == 0) return false;
  for (unsigned rest = parked; rest != 0;) {
    const Location first = threads_[w * kWarpSize + std::countr_zero(rest)].where;
    unsigned group = 0;
    for (unsigned lanes = rest; lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = std::countr_zero(lanes);
      const Location where = threads_[w * kWarpSize + lane].where;
      if (where.line == first.line && where.file == first.file) group |= 1u << lane;
    }
    for (unsigned lanes = group; lanes != 0; lanes &= lanes - 1) {
      warp.converged[std::countr_zero(lanes)] = group;
    }
    rest &= ~group;
  }
  warp.converging = 0;
  make_ready(w, parked);
  return true;
}

void Block::yield() {
  Warp& warp = warp_[current_ / kWarpSize];
  warp.yielded |= 1u << lane();
  ++yielded_;
  suspend(Wait::yield, 0, "yield", {});
}

// A thread of warp `w` exited: whoever waited only for it may go on.
bool Block::complete_after_exit(unsigned w) {
  Warp& warp = warp_[w];
  bool any = false;
  if (barrier_arrived_ != 0 && barrier_arrived_ == alive_) {
    release_barrier();
    any = true;
  }
  for (unsigned g = 0; g < warp.groups;) {
    Collective& group = warp.collectives[g];
    if (group.arrived != 0 && group.arrived == (group.mask & alive_lanes_[w])) {
      const Collective done = group;
      group = warp.collectives[--warp.groups];
      done.resolve(warp.payload, done.arrived);
      make_ready(w, done.arrived);
      any = true;
    } else {
      ++g;
    }
  }
  return any;
}

} // namespace kg::host
