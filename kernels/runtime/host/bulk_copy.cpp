// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/bulk_copy.h"

#include "runtime/host/block.h"
#include "runtime/host/block_group.h"
#include "runtime/host/block_indices.h"
#include "runtime/host/mbarrier.h"
#include "runtime/host/observer.h"
#include "runtime/host/warpgroup_observer.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace kg::host {
namespace {

constexpr unsigned char kInFlight = 0xFF; // NaN for every floating-point type

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

// Rounds f32 values to nearest even with 10 fraction bits. Infinity and NaN keep their bits. The
// driver API does not name the rounding; Triton's interpreter test found this one on a GPU
// (triton-lang/triton, pull request 11751).
void round_to_tf32(std::uintptr_t address, std::size_t bytes) {
  constexpr std::uint32_t kExponent = 0x7F800000, kDropped = 0x1FFF;
  for (; bytes != 0; address += sizeof(float), bytes -= sizeof(float)) {
    std::uint32_t bits;
    std::memcpy(&bits, pointer(address), sizeof bits);
    if ((bits & kExponent) == kExponent) continue;
    bits = (bits + kDropped / 2 + (bits >> 13 & 1)) & ~kDropped;
    std::memcpy(pointer(address), &bits, sizeof bits);
  }
}

// A contiguous range of a copy, as reported to the observer, whether swizzled or not.
struct Range {
  std::uintptr_t begin;
  std::size_t bytes;
};

std::vector<Range> joined(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() && range.begin <= result.back().begin + result.back().bytes)
      result.back().bytes =
          std::max(result.back().bytes, range.begin + range.bytes - result.back().begin);
    else
      result.push_back(range);
  }
  return result;
}

std::vector<Range> shared_ranges(const BulkMove& move) {
  std::vector<Range> ranges;
  for (const BoxPiece& piece : move.pieces) ranges.push_back({piece.shared, piece.bytes});
  return joined(std::move(ranges));
}

// The rank of the block of the cluster in whose dynamic shared memory the address is, else `own`.
unsigned owner(Block& block, const void* address, unsigned own) {
  BlockGroup* const cluster = block.groups().cluster;
  for (unsigned rank = 0; cluster && rank < cluster->size(); ++rank) {
    Block* const other = cluster->block(rank);
    if (!other) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(other->shared_memory());
    if (reinterpret_cast<std::uintptr_t>(address) - begin < block.launch().shared_bytes)
      return rank;
  }
  return own;
}

std::vector<Range> global_ranges(const BulkMove& move) {
  std::vector<Range> ranges;
  for (const BoxPiece& piece : move.pieces)
    if (piece.global)
      ranges.push_back({reinterpret_cast<std::uintptr_t>(piece.global), piece.bytes});
  return joined(std::move(ranges));
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

void BulkCopies::load(BulkMove move, std::uint64_t* barrier, Location where) {
  if (observer)
    for (const Range& range : global_ranges(move))
      observer->bulk_load_reads(pointer(range.begin), range.bytes, where);
  start({std::move(move), barrier, where});
}

void BulkCopies::multicast(const BulkMove& move, const void* to, std::uint64_t* barrier,
                           unsigned blocks, const char* name, Location where) {
  const BlockGroup* const cluster = block_.groups().cluster;
  const unsigned size = cluster ? cluster->size() : 1;
  const unsigned own = cluster ? cluster->rank(blockIdx) : 0;
  if (blocks == 0 || blocks >> size != 0)
    block_.trap(fmt::format("{}: the mask {:#x} must name at least one of the {} blocks of the "
                            "cluster, and no other",
                            name, blocks, size),
                where);
  if (observer)
    for (const Range& range : global_ranges(move))
      observer->bulk_load_reads(pointer(range.begin), range.bytes, where);
  for (unsigned rank = 0; rank < size; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    Load load{move, barrier, where};
    if (rank != own) {
      const unsigned char* const there = block_.shared_memory_of(rank, to, where);
      const std::ptrdiff_t distance = there - static_cast<const unsigned char*>(to);
      for (BoxPiece& piece : load.move.pieces)
        piece.shared += static_cast<std::uintptr_t>(distance);
      load.barrier =
          reinterpret_cast<std::uint64_t*>(block_.shared_memory_of(rank, barrier, where));
      load.other = static_cast<int>(rank);
    }
    mbarrier_check(load.barrier, name, where);
    start(std::move(load));
  }
}

void BulkCopies::send(BulkMove move, const void* to, std::uint64_t* barrier, const char* name,
                      Location where) {
  const unsigned own = block_.groups().cluster ? block_.groups().cluster->rank(blockIdx) : 0;
  const unsigned rank = owner(block_, to, own), counting = owner(block_, barrier, own);
  if (rank != counting)
    block_.trap(fmt::format("{}: the destination is in block {} of the cluster, and the mbarrier "
                            "in block {}; map both to the same rank",
                            name, rank, counting),
                where);
  mbarrier_check(barrier, name, where);
  Load load{std::move(move), barrier, where};
  load.other = rank == own ? -1 : static_cast<int>(rank);
  load.from_shared = true;
  load.sender = block_.thread_rank();
  start(std::move(load));
}

void BulkCopies::start(Load load) {
  if (observer) tell_issue(load);
  if (moves_at_once()) {
    land(load);
  } else {
    if (!load.move.reduction)
      for (const BoxPiece& piece : load.move.pieces)
        std::memset(pointer(piece.shared), kInFlight, piece.bytes);
    loads_.push_back(std::move(load));
  }
}

void BulkCopies::tell_issue(const Load& load) const {
  if (load.from_shared)
    for (const Range& range : global_ranges(load.move))
      warpgroup_observer->bulk_send_issued(pointer(range.begin), range.bytes, load.barrier,
                                           load.where);
  for (const Range& range : shared_ranges(load.move)) {
    if (load.move.reduction)
      warpgroup_observer->bulk_reduction_updates(pointer(range.begin), range.bytes, load.where);
    else
      observer->bulk_load_issued(pointer(range.begin), range.bytes, load.barrier, load.where);
  }
}

void BulkCopies::tell_landing(const Load& load) const {
  if (load.from_shared)
    for (const Range& range : global_ranges(load.move))
      warpgroup_observer->bulk_send_read(pointer(range.begin), range.bytes, load.sender,
                                         load.barrier);
  for (const Range& range : shared_ranges(load.move)) {
    if (load.move.reduction)
      warpgroup_observer->bulk_send_updated(pointer(range.begin), range.bytes, load.sender,
                                            load.barrier);
    else
      observer->bulk_load_landed(pointer(range.begin), load.barrier);
  }
}

void BulkCopies::land(const Load& load) {
  if (load.other >= 0 && !block_.groups().cluster->block(static_cast<unsigned>(load.other)))
    fail(fmt::format("block {} of the cluster has ended while a bulk copy of {} bytes into its "
                     "shared memory is in flight; let no block end before the phases of all copies "
                     "into it",
                     load.other, load.move.bytes),
         load.where);
  for (const BoxPiece& piece : load.move.pieces) {
    if (!piece.global) {
      std::memset(pointer(piece.shared), load.move.outside, piece.bytes);
      continue;
    }
    if (load.move.reduction)
      reduce(*load.move.reduction, pointer(piece.shared), piece.global, piece.bytes);
    else
      std::memcpy(pointer(piece.shared), piece.global, piece.bytes);
    if (load.move.rounds_to_tf32) round_to_tf32(piece.shared, piece.bytes);
  }
  if (observer) tell_landing(load);
  mbarrier_complete_unobserved(block_, load.barrier, load.move.bytes, load.where);
}

void BulkCopies::land_elsewhere() {
  for (std::size_t i = 0; i < loads_.size();) {
    if (loads_[i].other < 0) {
      ++i;
      continue;
    }
    const Load load = std::move(loads_[i]);
    loads_.erase(loads_.begin() + static_cast<std::ptrdiff_t>(i));
    land(load);
  }
}

bool BulkCopies::deliver() {
  if (loads_.empty()) return false;
  const std::size_t which = block_.launch().schedule.order == ThreadOrder::random
                                ? block_.random_bits() % loads_.size()
                                : 0;
  const Load load = std::move(loads_[which]);
  loads_.erase(loads_.begin() + static_cast<std::ptrdiff_t>(which));
  land(load);
  return true;
}

void BulkCopies::read(Store& store) {
  if (store.has_read) return;
  for (const BoxPiece& piece : store.move.pieces) {
    const auto* const bytes = static_cast<const unsigned char*>(pointer(piece.shared));
    store.data.insert(store.data.end(), bytes, bytes + piece.bytes);
  }
  store.has_read = true;
}

void BulkCopies::write(Store& store) {
  if (std::exchange(store.written, true)) return;
  const unsigned char* read = store.data.data();
  for (const BoxPiece& piece : store.move.pieces) {
    const void* const from = store.has_read ? read : pointer(piece.shared);
    if (store.move.reduction)
      reduce(*store.move.reduction, piece.global, from, piece.bytes);
    else
      std::memcpy(piece.global, from, piece.bytes);
    read += piece.bytes;
  }
  store.has_read = true;
}

void BulkCopies::store(BulkMove move, Location where) {
  std::erase_if(move.pieces, [](const BoxPiece& piece) { return !piece.global; });
  if (observer) {
    for (const Range& range : shared_ranges(move))
      observer->bulk_store_issued(pointer(range.begin), range.bytes, where);
    for (const Range& range : global_ranges(move)) {
      if (move.reduction)
        warpgroup_observer->bulk_reduction_updates(pointer(range.begin), range.bytes, where);
      else
        observer->bulk_store_writes(pointer(range.begin), range.bytes, where);
    }
  }
  Store store{std::move(move), where, {}};
  if (moves_at_once())
    write(store);
  else if (!store.move.reduction)
    for (const BoxPiece& piece : store.move.pieces)
      std::memset(piece.global, kInFlight, piece.bytes);
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
    if (read_only) read(store);
    if (!observer) continue;
    for (const Range& range : shared_ranges(store.move))
      observer->bulk_store_read(pointer(range.begin), range.bytes);
  }
  if (read_only) return;
  for (std::size_t i = 0; i < count; ++i) {
    Store& store = thread.stores[i];
    write(store);
    if (!observer) continue;
    for (const Range& range : global_ranges(store.move)) {
      if (store.move.reduction)
        warpgroup_observer->bulk_reduction_updated(pointer(range.begin), range.bytes);
      else
        observer->bulk_store_written(pointer(range.begin), range.bytes);
    }
  }
  thread.stores.erase(thread.stores.begin(),
                      thread.stores.begin() + static_cast<std::ptrdiff_t>(count));
  thread.read -= count;
  std::erase_if(thread.groups, [&](std::size_t ends) { return ends <= count; });
  for (std::size_t& ends : thread.groups) ends -= count;
}

void BulkCopies::finish() {
  for (const Load& load : loads_)
    if (load.other < 0)
      fail(
          fmt::format("the block has ended while a bulk copy of {} bytes into its shared memory is "
                      "in flight; wait for the phase of its mbarrier before the block ends",
                      load.move.bytes),
          load.where);
    else if (load.from_shared)
      fail(fmt::format("the block has ended while a bulk copy of {} bytes from its shared memory "
                       "into block {} of the cluster is in flight; let the blocks meet behind the "
                       "phase of its mbarrier, for example in cluster_sync()",
                       load.move.bytes, load.other),
           load.where);
  land_elsewhere();
  for (auto& [rank, thread] : threads_) {
    for (Store& store : thread.stores) {
      if (!store.has_read && warpgroup_observer)
        warpgroup_observer->bulk_store_not_awaited(store.move.bytes, rank, store.where);
      write(store);
    }
  }
}

} // namespace kg::host
