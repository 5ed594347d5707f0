// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/residents.h"

#include "runtime/device.h"
#include "runtime/host/device_memory.h"
#include "runtime/host/idle_blocks.h"
#include "runtime/host/observer.h"
#include "runtime/host/virtual_device.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace kg::host {
namespace {

// Limits until a launch is given up: how often every block stands aside in vain, and how often its
// threads poll. A poll is up to eight looks. Without an observer, plain stores are not seen and
// polls are ten times as fast.
constexpr unsigned kMostStands = 32;
constexpr std::uint64_t kMostPolls = std::uint64_t{1} << 19;
constexpr std::uint64_t kMostPollsUnobserved = std::uint64_t{1} << 21;

// Each OS thread's own executor; all blocks and launches reuse its stacks and tables.
Block& thread_block() {
  thread_local const auto block = std::make_unique<Block>();
  return *block;
}

} // namespace

std::exception_ptr Resident::stand_aside(Block& block, std::uint64_t polls) {
  return all_.stand_aside(*this, block, polls);
}

bool Resident::is_crowded() const { return all_.crowded_; }

Residents::Residents(const LaunchContext& launch)
    : launch_(launch), indices_(launch.grid), blocks_(indices_.count()) {}

void Residents::run() {
  int processors = launch_.schedule.workers;
  if (processors == 0) processors = tbb::this_task_arena::max_concurrency();
  const int workers = observer ? 1 : static_cast<int>(std::min<std::uint64_t>(processors, blocks_));
  std::optional<Watch> watch;
  if (!observer && launch_.schedule.workers == 0 && blocks_ > std::uint64_t(workers))
    watch.emplace(*this);
  if (workers <= 1) {
    work(thread_block(), false);
  } else {
    tbb::parallel_for(
        0, workers, [this](int) { work(thread_block(), false); }, tbb::simple_partitioner{});
  }
  if (crowded_ || watch) {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return live_ == 0; });
  }
  watch.reset();
  threads_.clear();                                      // joins them
  for (; !more_blocks_.empty(); more_blocks_.pop_back()) // keeps their order for reuse
    idle_blocks().give_back(std::move(more_blocks_.back()));
  if (failure_) std::rethrow_exception(failure_);
}

void Residents::fail(std::uint64_t block, std::exception_ptr reason) {
  std::lock_guard lock(mutex_);
  if (!failure_ || block < failed_block_) {
    failed_block_ = block;
    failure_ = std::move(reason);
  }
  failed_ = true;
}

void Residents::work(Block& block, bool is_counted) {
  Resident me(*this);
  {
    std::lock_guard lock(mutex_);
    // Too late: the maximum number of blocks is already running.
    if (!is_counted && limit_ != 0 && live_ >= limit_) return;
    workers_.push_back(&me);
    if (!is_counted) ++live_;
  }
  for (std::uint64_t i;
       !failed_ && (i = next_.fetch_add(1, std::memory_order_relaxed)) < blocks_;) {
    const uint3 index = indices_[i];
    me.index_ = index;
    try {
      block.run(launch_, index, {nullptr, nullptr, {}, &me});
    } catch (...) {
      fail(i, std::current_exception());
    }
    if (crowded_) {
      std::lock_guard lock(mutex_);
      begin_period();
    }
  }
  std::lock_guard lock(mutex_);
  std::erase(workers_, &me);
  --live_;
  wake_first();
  ended_.notify_all(); // with the lock held: this object may be destroyed right after
}

bool Residents::can_begin() const { return !failed_ && next_ < blocks_ && live_ < limit_; }

// False if the system has no memory or OS thread for another worker: then no further block fits.
bool Residents::add_worker() {
  try {
    more_blocks_.push_back(idle_blocks().take());
    Block* const block = more_blocks_.back().get();
    threads_.emplace_back([this, block] { work(*block, true); });
    ++live_;
    return true;
  } catch (const std::exception& error) {
    lacks_ = error.what();
    limit_ = live_;
    return false;
  }
}

bool Residents::wake_first() {
  if (asleep_.empty()) return false;
  Resident* const first = asleep_.front();
  asleep_.erase(asleep_.begin());
  first->sleeps_ = false;
  first->woken_.notify_one();
  return true;
}

void Residents::begin_period() {
  ++period_;
  polls_ = memory_ = 0;
  patient_ = 0;
}

std::exception_ptr Residents::stand_aside(Resident& me, Block& block, std::uint64_t polls) {
  std::unique_lock lock(mutex_);
  crowded_ = true;
  ++stands_;
  if (limit_ == 0) limit_ = resident_blocks(launch_.block, launch_.shared_bytes);
  if (std::exchange(me.changes_, looks.changes) != looks.changes) begin_period();
  if (std::exchange(me.period_, period_) != period_) me.stands_ = 0;
  polls_ += polls;
  if (++me.stands_ == kMostStands) {
    ++patient_;
    me.waits_ = block.describe_waits();
  }
  if (deadlock_) return deadlock_;
  if (is_deadlock()) {
    deadlock_ = failure_ ? failure_ : std::make_exception_ptr(Error(describe_deadlock()));
    return give_up();
  }
  if (can_begin() && add_worker()) {
    begin_period();
  } else if (!wake_first()) {
    const bool others_run = live_ > 1;
    lock.unlock();
    if (others_run) std::this_thread::yield();
    return nullptr;
  }
  if (observer) observer->block_stands_aside(block);
  me.sleeps_ = true;
  asleep_.push_back(&me);
  me.woken_.wait(lock, [&me] { return !me.sleeps_; });
  return deadlock_;
}

std::exception_ptr Residents::give_up() {
  // Only one OS thread at a time may call an observer: each worker that ends wakes the next.
  while (!observer && wake_first()) {
  }
  return deadlock_;
}

// Whether all workers have been patient for long while memory has not changed.
bool Residents::is_deadlock() {
  if (patient_ < live_ || can_begin()) return false;
  if (polls_ < (observer ? kMostPolls : kMostPollsUnobserved)) return false;
  if (observer) return true;
  const std::uint64_t memory = device_memory_hash();
  if (memory_ == memory) return true;
  begin_period();
  memory_ = memory;
  return false;
}

std::string Residents::describe_deadlock() const {
  std::string text = fmt::format("deadlock in kernel {}: ", launch_.kernel_name(launch_.kernel));
  text += "all resident blocks only poll, in vain";
  if (next_ < blocks_) text += ", and leave no place to those that have not begun";
  text += live_ == 1 ? "; 1 block is resident" : fmt::format("; {} blocks are resident", live_);
  text += blocks_ == 1 ? ", 1 was launched" : fmt::format(", {} were launched", blocks_);
  if (!lacks_.empty()) text += ", and the system has no OS thread for more: " + lacks_;
  const auto rank = [this](const Resident* one) {
    return one->index_.x +
           launch_.grid.x * (one->index_.y + std::uint64_t{launch_.grid.y} * one->index_.z);
  };
  std::vector<const Resident*> order(workers_.begin(), workers_.end());
  std::ranges::sort(order, {}, rank);
  for (auto first = order.begin(); first != order.end();) {
    const auto rest = std::stable_partition(
        first, order.end(), [&](const Resident* one) { return one->waits_ == (*first)->waits_; });
    const uint3 index = (*first)->index_;
    text += fmt::format("; block ({},{},{})", index.x, index.y, index.z);
    if (rest - first > 1) text += fmt::format(" and {} more", rest - first - 1);
    text += fmt::format(": {}", (*first)->waits_);
    first = rest;
  }
  return text;
}

std::uint64_t Residents::progress() {
  std::lock_guard lock(mutex_);
  return next_ + stands_;
}

void Residents::add_workers(unsigned count) {
  std::lock_guard lock(mutex_);
  if (limit_ == 0) limit_ = resident_blocks(launch_.block, launch_.shared_bytes);
  for (; count > 0; --count) {
    if (!(can_begin() && add_worker()) && !wake_first()) return;
  }
}

std::uint64_t resident_blocks(dim3 block, std::size_t shared_bytes) {
  const int per_sm = resident_blocks_per_sm(block.x * block.y * block.z, shared_bytes,
                                            device_properties().shared_bytes_per_sm);
  return std::uint64_t(device_properties().sm_count) * std::uint64_t(std::max(per_sm, 1));
}

} // namespace kg::host
