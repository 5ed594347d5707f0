// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/block.h"

#include "runtime/host/block_group.h"
#include "runtime/host/observer.h"
#include "runtime/host/register_pool.h"
#include "runtime/host/virtual_device.h"
#include "runtime/host/warpgroup.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

constinit thread_local uint3 threadIdx{0, 0, 0};
constinit thread_local uint3 blockIdx{0, 0, 0};
constinit thread_local dim3 blockDim{1, 1, 1};
constinit thread_local dim3 gridDim{1, 1, 1};

namespace kg::host {

constinit thread_local Block* current_block = nullptr;
constinit thread_local Looks looks;

namespace {

// Unwinds the suspended threads of an aborted block.
struct Aborted {};

// These bytes follow the dynamic shared memory that a launch requested; a kernel that changes them
// has written past its end.
constexpr auto kSharedGuard = [] {
  std::array<unsigned char, 256> bytes{};
  bytes.fill(0xC3);
  return bytes;
}();

std::uint64_t next_random(std::uint64_t& state) { // xorshift64*, Vigna 2016
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1DULL;
}

unsigned nth_set_bit(unsigned mask, unsigned n) {
  while (n-- > 0) mask &= mask - 1;
  return static_cast<unsigned>(std::countr_zero(mask));
}

// Chooses the next set bit in thread orders other than forward.
unsigned choose_bit(unsigned mask, ThreadOrder order, std::uint64_t& random) {
  if (order == ThreadOrder::reverse) return 31u - static_cast<unsigned>(std::countl_zero(mask));
  return nth_set_bit(mask, static_cast<unsigned>(next_random(random) >> 32) %
                               static_cast<unsigned>(std::popcount(mask)));
}

// Generic addresses of shared memory end in its offset, as on a GPU. Matrix descriptors hold these
// 18 bits of an address, and ThunderKittens takes them from generic ones.
constexpr std::size_t kWindow = std::size_t{1} << 18;

} // namespace

Block::Block() {
  static_assert(kMostSharedBytes + kSharedGuard.size() <= kWindow);
  static_assert(kWindow % kSharedAlignment == 0);
  shared_.reset(static_cast<unsigned char*>(std::aligned_alloc(kWindow, kWindow)));
  require(shared_ != nullptr, "no memory for the shared memory of a block; use fewer workers");
}

Block::~Block() {
  if (observer) observer->block_destroyed(*this);
}

std::uint64_t Block::random_bits() { return next_random(random_); }

void Block::run(const LaunchContext& launch, uint3 index, const Groups& groups) {
  prepare(launch, index, groups);
  std::ranges::copy(kSharedGuard, shared_memory() + launch.shared_bytes);
  current_block = this;
  if (observer) observer->block_began(*this);
  loop(nullptr);
  if (!failure_) finish_copies();
  if (observer) observer->block_ended(*this);
  current_block = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  const unsigned char* const guard = shared_memory() + launch.shared_bytes;
  // A bytewise comparison would cost as much as running twenty threads that do nothing.
  if (std::memcmp(guard, kSharedGuard.data(), kSharedGuard.size()) != 0) [[unlikely]]
    shared_overrun(static_cast<std::size_t>(
        std::mismatch(kSharedGuard.begin(), kSharedGuard.end(), guard).second - guard));
}

void Block::finish_copies() {
  try {
    bulk_copies_.finish();
    warpgroups_finish();
  } catch (...) {
    failure_ = std::current_exception();
    groups_.fail(failure_);
  }
}

void Block::prepare(const LaunchContext& launch, uint3 index, const Groups& groups) {
  launch_ = &launch;
  groups_ = groups;
  index_ = index;
  count_ = launch.block.x * launch.block.y * launch.block.z;
  warps_ = (count_ + kWarpSize - 1) / kWarpSize;
  alive_ = count_;
  started_ = ready_warps_ = yielded_ = overtaken_ = polling_ = idle_rounds_ = vain_rounds_ = 0;
  vain_polls_ = 0;
  barrier_arrived_ = barrier_true_ = 0;
  aborting_ = home_parked_ = false;
  for (unsigned w = 0; w < warps_; ++w) {
    const unsigned lanes = std::min(kWarpSize, count_ - w * kWarpSize);
    alive_lanes_[w] = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
    ready_[w] = 0;
    warp_[w].yielded = warp_[w].converging = warp_[w].groups = 0;
  }
  for (NamedBarrier& barrier : named_) {
    barrier.arrived = barrier.trues = 0;
    barrier.waiting.clear();
  }
  polls_.clear();
  looks_.clear();
  async_copies_.reset();
  bulk_copies_.reset();
  cluster_barrier_.reset();
  warpgroups_reset();
  registers_reset();
  random_ = launch.schedule.seed * 0x9E3779B97F4A7C15ULL + index.x + 1;
  random_ += (std::uint64_t{index.y} << 20) + (std::uint64_t{index.z} << 40);
  order_threads();
  blockIdx = index;
  blockDim = launch.block;
  gridDim = launch.grid;
}

// Fills the table of thread indices and the start order. Both stay valid until the block's shape or
// the schedule changes.
void Block::order_threads() {
  const dim3 shape = launch_->block;
  if (shape.x != index_shape_.x || shape.y != index_shape_.y || shape.z != index_shape_.z) {
    for (unsigned id = 0; id < count_; ++id) {
      threads_[id].index = {id % shape.x, id / shape.x % shape.y, id / (shape.x * shape.y)};
    }
    index_shape_ = shape;
  }
  const ThreadOrder order = thread_order_ = launch_->schedule.order;
  if (order != ThreadOrder::random && order_count_ == count_ && order_made_for_ == order) return;
  for (unsigned i = 0; i < count_; ++i) {
    order_[i] = order == ThreadOrder::reverse ? count_ - 1 - i : i;
  }
  if (order == ThreadOrder::random) {
    for (unsigned i = count_; i > 1; --i) {
      std::swap(order_[i - 1], order_[(next_random(random_) >> 32) % i]);
    }
  }
  order_count_ = count_;
  order_made_for_ = order;
}

// Runs threads until this stack is no longer needed or another flow must continue. `here` is null
// on the OS thread's own stack.
void Block::loop(StackPool::Stack* here) {
  // Aligns kernel frames equally within cache lines for every launch (run_thread shifts them).
  alignas(64) char line[64];
  asm volatile("" : : "r"(line));
  for (;;) {
    if (const Thread* next = pick()) {
      if (!here) {
        home_parked_ = true;
        switch_context(home_, next->context);
        home_parked_ = false;
        continue;
      }
      stacks_.give_back(here);
      Context gone;
      switch_context(gone, next->context, true);
    }
    if (started_ < count_) {
      run_thread(order_[started_++]);
    } else if (alive_ == 0) {
      if (!here) return;
      stacks_.give_back(here);
      Context gone;
      switch_context(gone, home_, true);
    } else if (!unblock()) {
      abort(std::make_exception_ptr(Error(deadlock_report())));
    }
  }
}

void Block::fresh_stack_entry() {
  entered_fresh_stack();
  Block* block = current_block;
  block->loop(block->fresh_stack_);
}

void Block::run_thread(unsigned id) {
  // A kernel loads its by-value parameters as vectors right after they were stored on the stack.
  // Their alignment within cache lines decides whether the loads stall. This shift changes naive
  // gather from 2.3 ms to 1.2, broadcast from 1.9 to 1.2, and tiled transpose from 0.9 to 1.0 (AMD
  // EPYC).
  char shift[16];
  asm volatile("" : : "r"(shift));
  current_ = id;
  threadIdx = threads_[id].index;
  looks.begin_anew(); // equal first looks of different threads are not polling
  try {
    if (observer) [[unlikely]] {
      run_observed_thread();
    } else {
      launch_->invoke(launch_->kernel, launch_->arguments);
    }
  } catch (const Aborted&) {
  } catch (...) {
    abort(std::current_exception());
  }
  thread_exited(id);
}

[[gnu::noinline]] void Block::run_observed_thread() {
  void* escape[5]; // the size that __builtin_setjmp requires
  escape_[current_] = escape;
  if (__builtin_setjmp(escape) == 0) launch_->invoke(launch_->kernel, launch_->arguments);
}

void Block::stop(std::exception_ptr reason) {
  abort(std::move(reason));
  __builtin_longjmp(escape_[current_], 1);
}

void Block::thread_exited(unsigned id) {
  alive_lanes_[id / kWarpSize] &= ~(1u << id % kWarpSize);
  --alive_;
  const bool others_wait = started_ != count_ - alive_;
  if (others_wait && !aborting_) complete_after_exit(id / kWarpSize);
  if ((groups_.cluster || cluster_barrier_.used()) && !aborting_) [[unlikely]]
    cluster_barrier_.exited(id);
}

// Takes a suspended thread out of the ready set and makes it the running thread, except for the
// switch to its context. Null if there is none, or if (in random order) a thread that has not
// started runs first.
inline Block::Thread* Block::pick() {
  if (ready_warps_ == 0) return nullptr;
  unsigned w = static_cast<unsigned>(std::countr_zero(ready_warps_));
  unsigned lane = static_cast<unsigned>(std::countr_zero(ready_[w]));
  if (thread_order_ != ThreadOrder::forward) [[unlikely]] {
    const unsigned id = choose();
    if (id == kNobody) return nullptr;
    w = id / kWarpSize;
    lane = id % kWarpSize;
  }
  ready_[w] &= ~(1u << lane);
  if (ready_[w] == 0) ready_warps_ &= ~(1u << w);
  current_ = w * kWarpSize + lane;
  Thread& thread = threads_[current_];
  thread.wait = Wait::none;
  threadIdx = thread.index;
  // Prefetches the likely next thread: in a large block, its stack is no longer in the L1 cache. If
  // no lane is left (32), the index is the first lane of the next warp.
  const Thread& follower =
      threads_[w * kWarpSize + static_cast<unsigned>(std::countr_zero(ready_[w]))];
  __builtin_prefetch(follower.context.resume);
  __builtin_prefetch(static_cast<const char*>(follower.context.resume) + 64);
  return &thread;
}

// Chooses the next thread in orders other than forward.
[[gnu::noinline]] unsigned Block::choose() {
  if (thread_order_ == ThreadOrder::random && started_ < count_ &&
      (next_random(random_) >> 63) != 0) {
    return kNobody;
  }
  const unsigned w = choose_bit(ready_warps_, thread_order_, random_);
  return w * kWarpSize + choose_bit(ready_[w], thread_order_, random_);
}

void Block::make_ready(unsigned w, unsigned lanes) {
  if (lanes == 0) return;
  ready_[w] |= lanes;
  ready_warps_ |= 1u << w;
}

// The context to run if no suspended thread is ready: a thread that has not started, or one
// released from a blocked block. Null if that is the calling thread itself.
[[gnu::noinline]] const Context* Block::continue_elsewhere() {
  const Thread* const self = &threads_[current_];
  for (;;) {
    if (started_ < count_) {
      if (home_parked_) return &home_;
      try {
        fresh_stack_ = stacks_.take();
      } catch (...) {
        abort(std::current_exception());
        continue;
      }
      fresh_ = make_context<&Block::fresh_stack_entry>(fresh_stack_->bottom, fresh_stack_->size);
      return &fresh_;
    }
    if (!unblock()) abort(std::make_exception_ptr(Error(deadlock_report())));
    if (const Thread* next = pick()) {
      return next == self ? nullptr : &next->context;
    }
  }
}

// Gives up the OS thread until the running thread is made ready again.
//
// Static, so that finding the block does not involve the stack that was just switched to. Otherwise
// the choice of the next thread would wait for a register reload at every switch.
void Block::suspend(Wait wait, unsigned detail, const char* name, Location where) {
  Block& block = *current_block;
  Thread& thread = block.threads_[block.current_];
  thread.wait = wait;
  thread.detail = detail;
  thread.name = name;
  thread.where = where;
  const Thread* next = block.pick();
  const Context* to = next ? &next->context : block.continue_elsewhere();
  if (to) [[likely]]
    switch_context(thread.context, *to);
  if (current_block->aborting_) [[unlikely]]
    unwind();
}

// With an observer, a thread may have been preempted in an access, which cannot throw: see stop().
void Block::unwind() {
  if (observer) __builtin_longjmp(current_block->escape_[current_block->current_], 1);
  throw Aborted{};
}

// Called if no thread is ready and all have started: releases threads that wait for exactly this
// state. False if it is a deadlock.
bool Block::unblock() {
  BlockGroup* const cluster = groups_.cluster;
  const std::uint64_t changes = cluster ? cluster->changes() : 0;
  bool any = false;
  for (unsigned w = 0; w < warps_; ++w) any |= release_converging(w);
  try {
    any |= async_copies_.deliver();
    if (!any) any = bulk_copies_.deliver();
  } catch (...) {
    abort(std::current_exception());
    return true;
  }
  any |= wake_polls();
  if (any && cluster) cluster->resumed(index_);
  if (any || only_looks(changes)) return any;
  if (yielded_ == 0 && (polls_.empty() || !cluster || cluster->stalled(index_, changes)))
    return false;
  // The threads may be waiting for another block.
  if (groups_.resident) {
    if (!stand_aside()) return true;
  } else {
    // A preempted thread waits for nothing. On a busy machine, each yield costs a time slice of all
    // other programs.
    if (yielded_ > overtaken_ || !polls_.empty()) std::this_thread::yield();
    groups_.turn.yield();
    if (groups_.failed()) return false;
  }
  for (unsigned w = 0; w < warps_; ++w) {
    make_ready(w, warp_[w].yielded);
    warp_[w].yielded = 0;
  }
  yielded_ = overtaken_ = polling_ = 0;
  return true;
}

// Aborts the block: waiting threads unwind by an exception; threads that have not started never do.
void Block::abort(std::exception_ptr reason) {
  if (aborting_) return;
  failure_ = std::move(reason);
  alive_ -= count_ - started_;
  started_ = count_;
  aborting_ = true;
  groups_.fail(failure_);
  ready_warps_ = 0;
  polls_.clear();
  for (unsigned w = 0; w < warps_; ++w) {
    unsigned waiting = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const unsigned id = w * kWarpSize + lane;
      if (id < count_ && threads_[id].wait != Wait::none) waiting |= 1u << lane;
    }
    ready_[w] = warp_[w].groups = 0;
    make_ready(w, waiting);
  }
}

} // namespace kg::host

long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
