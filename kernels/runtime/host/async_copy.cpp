// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/async_copy.h"

#include "runtime/host/block.h"
#include "runtime/host/mbarrier.h"
#include "runtime/host/observer.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace kg::host {
namespace {

constexpr unsigned char kInFlight = 0xFF; // NaN for every floating-point type

template <class Copy>
void arrive(Copy& copy) {
  if (copy.arrived) return;
  std::memmove(copy.to, copy.from, copy.source_bytes);
  std::memset(static_cast<unsigned char*>(copy.to) + copy.source_bytes, 0,
              copy.bytes - copy.source_bytes);
  copy.arrived = true;
}

AsyncCopies& copies(const char* name, Location where) {
  return running_block(name, where).async_copies();
}

} // namespace

void AsyncCopies::reset() {
  for (Thread& thread : threads_) {
    thread.copies.clear();
    thread.groups.clear();
    thread.arrivals.clear();
  }
}

AsyncCopies::Thread& AsyncCopies::running_thread() {
  if (threads_.size() < block_.thread_count()) threads_.resize(block_.thread_count());
  return threads_[block_.thread_rank()];
}

bool AsyncCopies::arrives_at_once() {
  switch (block_.launch().schedule.order) {
  case ThreadOrder::forward: return false;
  case ThreadOrder::reverse: return true;
  case ThreadOrder::random: return block_.coin();
  }
  return false;
}

void AsyncCopies::issue(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
                        Location where) {
  if (observer) observer->async_copy_issued(to, from, bytes, source_bytes, where);
  Copy copy{to, from, bytes, source_bytes, false};
  if (arrives_at_once()) {
    arrive(copy);
  } else {
    std::memset(to, kInFlight, bytes);
  }
  running_thread().copies.push_back(copy);
}

void AsyncCopies::commit() {
  Thread& thread = running_thread();
  thread.groups.push_back(thread.copies.size());
}

void AsyncCopies::wait_group(std::size_t pending) {
  Thread& thread = running_thread();
  if (thread.groups.size() > pending)
    complete(thread, thread.groups[thread.groups.size() - 1 - pending]);
}

void AsyncCopies::wait_all() {
  Thread& thread = running_thread();
  complete(thread, thread.copies.size());
}

void AsyncCopies::arrive_on(std::uint64_t* barrier, Location where) {
  Thread& thread = running_thread();
  thread.arrivals.push_back({thread.copies.size(), barrier, where});
  if (arrives_at_once()) complete(thread, thread.copies.size());
}

bool AsyncCopies::deliver() {
  bool any = false;
  for (Thread& thread : threads_) {
    if (thread.arrivals.empty()) continue;
    complete(thread, thread.arrivals.back().copies);
    any = true;
  }
  return any;
}

// Completes the `count` oldest copies and the arrivals that depend on them.
void AsyncCopies::complete(Thread& thread, std::size_t count) {
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (block_.launch().schedule.order == ThreadOrder::random) {
    for (std::size_t i = count; i > 1; --i) {
      std::swap(order_[i - 1], order_[block_.random_bits() % i]);
    }
  }
  for (std::size_t i : order_) arrive(thread.copies[i]);
  if (observer) {
    std::size_t handed_over = 0; // number of oldest copies that an mbarrier waits for
    for (const Arrival& arrival : thread.arrivals)
      if (arrival.copies <= count) handed_over = std::max(handed_over, arrival.copies);
    for (std::size_t i = 0; i < count; ++i)
      observer->async_copy_arrived(thread.copies[i].to, thread.copies[i].bytes, i < handed_over);
  }
  thread.copies.erase(thread.copies.begin(),
                      thread.copies.begin() + static_cast<std::ptrdiff_t>(count));
  std::erase_if(thread.groups, [&](std::size_t end) { return end <= count; });
  for (std::size_t& end : thread.groups) end -= count;

  std::vector<Arrival> due;
  std::erase_if(thread.arrivals, [&](const Arrival& arrival) {
    if (arrival.copies > count) return false;
    due.push_back(arrival);
    return true;
  });
  for (Arrival& arrival : thread.arrivals) arrival.copies -= count;
  for (const Arrival& arrival : due)
    mbarrier_arrive_unobserved(block_, arrival.barrier, arrival.where);
}

void async_copy(void* to, const void* from, std::size_t bytes, std::size_t source_bytes,
                const char* name, Location where) {
  Block& block = running_block(name, where);
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    block.trap(fmt::format("{} of {} bytes; it copies 4, 8 or 16", name, bytes), where);
  }
  if (source_bytes > bytes) {
    block.trap(fmt::format("{} reads {} bytes of the source but copies only {}; the source's bytes "
                           "must not exceed the copy's",
                           name, source_bytes, bytes),
               where);
  }
  const auto misaligned = [&](const void* address, const char* which) {
    if (reinterpret_cast<std::uintptr_t>(address) % bytes == 0) return;
    block.trap(
        fmt::format("{} of {} bytes: the {} is not aligned to {} bytes", name, bytes, which, bytes),
        where);
  };
  misaligned(to, "destination");
  misaligned(from, "source");
  block.async_copies().issue(to, from, bytes, source_bytes, where);
}

void async_copy_unaligned(void* to, const void* from, std::size_t bytes, const char* name,
                          Location where) {
  copies(name, where).issue(to, from, bytes, bytes, where);
}

void async_commit(const char* name, Location where) { copies(name, where).commit(); }

void async_wait_group(std::size_t pending, const char* name, Location where) {
  copies(name, where).wait_group(pending);
}

void async_wait_all(const char* name, Location where) { copies(name, where).wait_all(); }

void async_arrive(std::uint64_t* barrier, bool counted, const char* name, Location where) {
  if (!counted) mbarrier_add_pending(barrier, where);
  AsyncCopies& mine = copies(name, where);
  // Releases this thread's accesses now; the phase cannot complete before the copies have arrived.
  if (observer) observer->barrier_arrived(barrier);
  mine.arrive_on(barrier, where);
}

} // namespace kg::host
