// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the threads of a block wait for each other: barriers, named barriers, warp collectives and
// convergence.
#include "runtime/host/block.h"

#include "runtime/host/block_group.h"
#include "runtime/host/observer.h"
#include "runtime/host/residents.h"

#include <atomic>
#include <bit>
#include <fmt/format.h>
#include <utility>

namespace kg::host {

namespace {

void report_collective(Block& block, unsigned warp, unsigned lanes, Resolve resolve,
                       const char* name, Location where) {
  if (resolve == &resolve_nothing) observer->warp_synchronised(block, warp, lanes, where);
  observer->warp_met(block, warp, lanes, name);
}

} // namespace

void resolve_nothing(void* const*, unsigned) {}

void fence(bool block_scope) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (observer && current_block) observer->fence(*current_block, block_scope);
}

void proxy_fence(Proxy covered) {
  if (observer && current_block) observer->proxy_fenced(*current_block, covered);
}

// Ends in tail calls, which saves a frame for every waiting thread.
void Block::barrier(const char* name, Location where) {
  if (barrier_arrived_ == 0) {
    barrier_where_ = where;
    barrier_places_differ_ = false;
  } else if (barrier_places_differ_ || barrier_where_.line != where.line ||
             barrier_where_.file != where.file) [[unlikely]] {
    judge_places(name, where);
  }
  if (++barrier_arrived_ == alive_) return release_barrier();
  suspend(Wait::barrier, 0, name, where);
}

// PTX counts warps in a barrier, at whichever bar.sync they arrive; only the lanes of one warp must
// execute the same one (PTX ISA, bar.sync). CUDA C++ requires this of the whole block (programming
// guide, "Synchronization Functions").
void Block::judge_places(const char* name, Location where) {
  const unsigned w = current_ / kWarpSize;
  bool splits_warp = false;
  for (unsigned lanes = alive_lanes_[w] & ~ready_[w]; lanes != 0; lanes &= lanes - 1) {
    const Thread& lane = threads_[w * kWarpSize + static_cast<unsigned>(std::countr_zero(lanes))];
    splits_warp |= lane.wait == Wait::barrier && !same_place(lane.where, where);
  }
  if (splits_warp) diverge(name, where, "all threads of a block must meet the same barrier");
  if (same_place(barrier_where_, where)) return;
  if (observer && observer->holds_to_cuda())
    diverge(name, where,
            "CUDA C++ requires all threads of a block to meet the same barrier, though PTX lets "
            "whole warps meet at two of them");
  barrier_places_differ_ = true;
}

Block::Votes Block::vote(bool predicate, const char* name, Location where) {
  barrier_true_ += predicate;
  barrier(name, where);
  return barrier_votes_;
}

void Block::release_barrier() {
  barrier_votes_ = {barrier_true_, barrier_true_ != 0, barrier_true_ == barrier_arrived_};
  barrier_arrived_ = barrier_true_ = 0;
  if (observer) [[unlikely]]
    observer->block_synchronised(*this, barrier_where_);
  // All live threads are at the barrier; the running thread, which completed it, simply continues.
  for (unsigned w = 0; w < warps_; ++w) make_ready(w, alive_lanes_[w]);
  const unsigned w = current_ / kWarpSize;
  ready_[w] &= ~(1u << lane());
  if (ready_[w] == 0) ready_warps_ &= ~(1u << w);
}

unsigned Block::named_barrier(unsigned id, unsigned threads, bool wait, Location where,
                              bool predicate) {
  if (id >= kNamedBarriers || threads == 0 || threads % kWarpSize != 0) {
    trap(fmt::format("named barrier {} for {} threads; the id must be below 16 and the count a "
                     "positive multiple of 32",
                     id, threads),
         where);
  }
  NamedBarrier& barrier = named_[id];
  if (barrier.arrived != 0 && barrier.threads != threads) {
    trap(fmt::format("named barrier {} for {} threads, but others came for {}; all must give one "
                     "count",
                     id, threads, barrier.threads),
         where);
  }
  barrier.threads = threads;
  if (observer) observer->barrier_arrived(&barrier);
  barrier.trues += predicate;
  unsigned trues = barrier.trues;
  if (++barrier.arrived == threads) {
    if (observer) observer->barrier_completed(&barrier);
    for (unsigned rank : barrier.waiting) {
      threads_[rank].detail = trues; // before arrivals of the next phase
      make_ready(rank / kWarpSize, 1u << rank % kWarpSize);
    }
    barrier.waiting.clear();
    barrier.arrived = barrier.trues = 0;
  } else if (wait) {
    barrier.waiting.push_back(current_);
    suspend(Wait::named_barrier, id, "named barrier", where);
    trues = threads_[current_].detail;
  }
  if (observer && wait) observer->barrier_passed(&barrier);
  return trues;
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
    if (observer) [[unlikely]]
      report_collective(*this, w, lanes, resolve, name, where);
    make_ready(w, lanes & ~bit);
    return;
  }
  suspend(Wait::collective, mask, name, where);
}

unsigned Block::converge(Location where) {
  const unsigned w = current_ / kWarpSize;
  const unsigned bit = 1u << lane();
  warp_[w].converging |= bit;
  // Alone, if no other lane of the warp can get here.
  suspend(Wait::converge, 0, "coalesced_threads or __activemask", where);
  return warp_[w].converged[current_ % kWarpSize];
}

// Releases the lanes that wait in converge(), one group per call site.
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

void Block::yield(const char* name, Location where) {
  Warp& warp = warp_[current_ / kWarpSize];
  warp.yielded |= 1u << lane();
  ++yielded_;
  suspend(Wait::yield, 0, name, where);
}

void Block::perturb(const char* name, Location where) {
  if (thread_order_ == ThreadOrder::random && coin()) preempt(name, where);
}

void Block::preempt(const char* name, Location where) {
  if (looks.again == 0) ++overtaken_;
  looks.begin_anew();
  yield(name, where);
}

void Block::wait_until(Ready ready, const void* what, unsigned detail, const char* name,
                       Location where) {
  if (ready(what, detail)) return;
  polls_.push_back({current_, ready, what, detail});
  suspend(Wait::poll, detail, name, where);
}

void Block::state_changed() {
  idle_rounds_ = 0;
  wake_polls();
}

bool Block::wake_polls() {
  const std::size_t before = polls_.size();
  Poll last{};
  bool ready = false; // reused for equal polls: up to a thousand, and other blocks need the lock
  std::erase_if(polls_, [&](const Poll& poll) {
    if (poll.ready != last.ready || poll.what != last.what || poll.detail != last.detail) {
      ready = poll.ready(poll.what, poll.detail);
      last = poll;
    }
    if (!ready) return false;
    make_ready(poll.rank / kWarpSize, 1u << poll.rank % kWarpSize);
    return true;
  });
  return polls_.size() != before;
}

void Block::poll_once(Ready ready, const void* what, unsigned detail, const char* name,
                      Location where) {
  if (looks_.empty()) looks_.resize(kMaxThreads);
  looks_[current_] = {current_, ready, what, detail};
  ++polling_;
  yield(name, where);
  if (ready(what, detail)) looks_[current_] = {}; // else it may sleep until it looks again
}

// Whether all ready threads have polled mbarriers in vain for a long time, and no other block of
// the cluster can change that. `changes`: the cluster's count before this round.
bool Block::only_looks(std::uint64_t changes) {
  constexpr unsigned kPatience = 100'000;
  // All changes of a cluster's mbarriers are counted, so a few rounds after the last change
  // suffice. At least some are needed: this round's looks may precede the change, and a block that
  // resumes computing must not be taken for a waiting block.
  constexpr unsigned kClusterPatience = 64;
  if (polling_ < yielded_) return false;
  if (!groups_.others_run()) return ++idle_rounds_ > kPatience;
  if (yielded_ == 0) return false;
  if (std::exchange(changes_seen_, changes) != changes) idle_rounds_ = 0;
  return ++idle_rounds_ > kClusterPatience && groups_.cluster->stalled(index_, changes);
}

void note_read_only(const void* from, std::size_t bytes, Location where) {
  observer->reads_only(from, bytes, where);
}
void note_absent_lane(void* value, std::size_t bytes, unsigned lane, const char* name,
                      Location where) {
  if (observer) observer->shuffles_from_absent(value, bytes, lane, name, where);
}

void poll(Location where) {
  looks.begin_anew();
  if (!current_block) return;
  current_block->yield("a polling loop", where);
  looks.begin_anew(); // other threads have polled in between
}

// Called after a round in which all ready threads yielded. Lets other blocks of the launch run
// after long polling. False if the block was aborted.
bool Block::stand_aside() {
  constexpr unsigned kRounds = 16;
  const bool in_vain = overtaken_ == 0 && changes_seen_ == looks.changes;
  changes_seen_ = looks.changes;
  vain_rounds_ = in_vain ? vain_rounds_ + 1 : 0;
  vain_polls_ += yielded_;
  if (vain_rounds_ < kRounds) return true;
  vain_rounds_ = 0;
  std::exception_ptr failure = groups_.resident->stand_aside(*this, std::exchange(vain_polls_, 0));
  if (!failure) return true;
  abort(std::move(failure));
  return false;
}

// The block's first live thread waits for the other blocks, while its own block waits for it.
void Block::meet(BlockGroup& group, const char* name, Location where) {
  barrier(name, where);
  unsigned w = 0;
  while (alive_lanes_[w] == 0) ++w;
  if (current_ == w * kWarpSize + static_cast<unsigned>(std::countr_zero(alive_lanes_[w]))) {
    if (&group == groups_.grid && current_ != 0) {
      trap(fmt::format("{} after thread 0 of the block has exited; on a GPU the blocks would not "
                       "wait for each other",
                       name),
           where);
    }
    bulk_copies_.land_elsewhere();
    if (observer) observer->barrier_arrived(&group);
    const unsigned ended = group.arrive_and_wait(groups_.turn);
    if (observer) observer->barrier_passed(&group);
    if (ended != 0) {
      trap(fmt::format("deadlock: {} waits for blocks that have ended ({} of {}); every block must "
                       "reach it",
                       name, ended, group.size()),
           where);
    }
  }
  barrier(name, where);
}

unsigned char* Block::shared_memory_of(unsigned rank, const void* address, Location where) {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(shared_memory());
  if (offset >= launch_->shared_bytes) {
    trap(fmt::format("map_shared_rank: the address is not in the {} bytes of dynamic shared memory "
                     "of this block; static __shared__ arrays cannot be mapped",
                     launch_->shared_bytes),
         where);
  }
  const unsigned blocks = groups_.cluster ? groups_.cluster->size() : 1;
  if (rank >= blocks) {
    trap(fmt::format("map_shared_rank: rank {} is not one of the {} blocks of the cluster", rank,
                     blocks),
         where);
  }
  Block* const other = groups_.cluster ? groups_.cluster->block(rank) : this;
  if (!other) {
    trap(fmt::format("map_shared_rank: block {} of the cluster is not running; cluster_group::sync "
                     "before the first and after the last access",
                     rank),
         where);
  }
  return other->shared_memory() + offset;
}

// A thread of warp `w` has exited: releases threads that waited only for it.
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
      if (observer) [[unlikely]] {
        const unsigned one = w * kWarpSize + static_cast<unsigned>(std::countr_zero(done.arrived));
        report_collective(*this, w, done.arrived, done.resolve, threads_[one].name,
                          threads_[one].where);
      }
      make_ready(w, done.arrived);
      any = true;
    } else {
      ++g;
    }
  }
  return any;
}

} // namespace kg::host
