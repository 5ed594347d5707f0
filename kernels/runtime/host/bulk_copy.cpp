// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/bulk_copy.h"

#include "runtime/host/block.h"
#include "runtime/host/mbarrier.h"
#include "runtime/host/observer.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace kg::host {
namespace {

constexpr unsigned char kInFlight = 0xFF; // NaN for every floating-point type
constexpr std::size_t kUnit = 16;         // bytes: of addresses and sizes

void check(Block& block, const void* to, const void* from, std::size_t bytes, const char* name,
           Location where) {
  const auto misaligned = [&](const void* address, const char* which) {
    const std::size_t over = reinterpret_cast<std::uintptr_t>(address) % kUnit;
    if (over != 0)
      block.trap(fmt::format("{}: the {} is {} bytes behind a multiple of {}; align it to {} bytes",
                             name, which, over, kUnit, kUnit),
                 where);
  };
  misaligned(to, "destination");
  misaligned(from, "source");
  if (bytes % kUnit != 0)
    block.trap(fmt::format("{} of {} bytes; a bulk copy moves a multiple of {}: copy the rest by "
                           "ordinary stores",
                           name, bytes, kUnit),
               where);
}

} // namespace

void BulkCopies::reset() {
  loads_.clear();
  threads_.clear();
}

bool BulkCopies::moves_at_once() {
  switch (block_.launch().schedule.order) {
  case ThreadOrder::forward: return false;
  case ThreadOrder::reverse: return true;
  case ThreadOrder::random: return block_.coin();
  }
  return false;
}

void BulkCopies::load(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
                      Location where) {
  if (observer) observer->bulk_load_issued(to, from, bytes, barrier, where);
  const Load load{to, from, bytes, barrier, where};
  if (moves_at_once()) {
    land(load);
  } else {
    std::memset(to, kInFlight, bytes);
    loads_.push_back(load);
  }
}

void BulkCopies::land(const Load& load) {
  std::memcpy(load.to, load.from, load.bytes);
  if (observer) observer->bulk_load_landed(load.to, load.barrier);
  mbarrier_complete_unobserved(block_, load.barrier, load.bytes, load.where);
}

bool BulkCopies::deliver() {
  if (loads_.empty()) return false;
  const std::size_t which = block_.launch().schedule.order == ThreadOrder::random
                                ? block_.random_bits() % loads_.size()
                                : 0;
  const Load load = loads_[which];
  loads_.erase(loads_.begin() + static_cast<std::ptrdiff_t>(which));
  land(load);
  return true;
}

void BulkCopies::read(Store& store) {
  if (store.has_read) return;
  const auto* const bytes = static_cast<const unsigned char*>(store.from);
  store.data.assign(bytes, bytes + store.bytes);
  store.has_read = true;
}

void BulkCopies::write(Store& store) {
  read(store);
  if (!store.written) std::memcpy(store.to, store.data.data(), store.bytes);
  store.written = true;
}

void BulkCopies::store(void* to, const void* from, std::size_t bytes, Location where) {
  if (observer) observer->bulk_store_issued(to, from, bytes, where);
  Store store{to, from, bytes, where, {}};
  if (moves_at_once())
    write(store);
  else
    std::memset(to, kInFlight, bytes);
  threads_[block_.thread_rank()].stores.push_back(std::move(store));
}

void BulkCopies::commit() {
  Thread& thread = threads_[block_.thread_rank()];
  thread.groups.push_back(thread.stores.size());
}

void BulkCopies::wait_group(std::size_t pending, bool read_only) {
  Thread& thread = threads_[block_.thread_rank()];
  if (thread.groups.size() <= pending) return;
  const std::size_t count = thread.groups[thread.groups.size() - 1 - pending];
  for (; thread.read < count; ++thread.read) {
    Store& store = thread.stores[thread.read];
    read(store);
    if (observer) observer->bulk_store_read(store.from, store.bytes);
  }
  if (read_only) return;
  for (std::size_t i = 0; i < count; ++i) {
    Store& store = thread.stores[i];
    write(store);
    if (observer) observer->bulk_store_written(store.to, store.bytes);
  }
  thread.stores.erase(thread.stores.begin(),
                      thread.stores.begin() + static_cast<std::ptrdiff_t>(count));
  thread.read -= count;
  std::erase_if(thread.groups, [&](std::size_t ends) { return ends <= count; });
  for (std::size_t& ends : thread.groups) ends -= count;
}

void BulkCopies::finish() {
  for (const Load& load : loads_)
    fail(fmt::format("the block has ended while a bulk copy of {} bytes into its shared memory is "
                     "in flight; wait for the phase of its mbarrier before the block ends",
                     load.bytes),
         load.where);
  for (auto& [rank, thread] : threads_) {
    for (Store& store : thread.stores) {
      if (!store.has_read)
        fail(fmt::format("the block has ended while a bulk copy of {} bytes from its shared memory "
                         "is in flight; the thread that issued it (number {}) must commit it and "
                         "wait for the group, at least by .read",
                         store.bytes, rank),
             store.where);
      write(store);
    }
  }
}

void bulk_load(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
               const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  check(block, to, from, bytes, name, where);
  mbarrier_check(barrier, name, where);
  block.bulk_copies().load(to, from, bytes, barrier, where);
}

void bulk_store(void* to, const void* from, std::size_t bytes, const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  check(block, to, from, bytes, name, where);
  block.bulk_copies().store(to, from, bytes, where);
}

void bulk_commit(const char* name, Location where) {
  running_block(name, where).bulk_copies().commit();
}

void bulk_wait_group(std::size_t pending, bool read, const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  block.bulk_copies().wait_group(pending, read);
}

} // namespace kg::host
