// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads of shared memory by wgmma, and their ends. A read ends like a landing bulk load: at a phase
// of the warpgroup, known to the threads that have waited.
#include "runtime/host/check/access_check.h"
#include "runtime/host/check/cells.h"
#include "runtime/host/check/checker.h"

#include <fmt/format.h>

namespace kg::check {
namespace {

const char* name_of(host::Swizzle swizzle) {
  switch (swizzle) {
  case host::Swizzle::none: return "without a swizzle";
  case host::Swizzle::bytes32: return "with the 32-byte swizzle";
  case host::Swizzle::bytes64: return "with the 64-byte swizzle";
  case host::Swizzle::bytes128: return "with the 128-byte swizzle";
  }
  return "";
}

} // namespace

void Checker::warpgroup_reads(const void* group, const void* from, std::size_t bytes,
                              host::Swizzle swizzle, Location where) {
  host::Block& block = *host::current_block;
  BlockState& state = state_of(block);
  const Location* const site = &remembered(where);
  const std::uintptr_t address = address_of(from);
  numbered(group, block, where);
  warpgroup_notes_.sites.insert(site_of(site));
  bulk_reads(from, bytes, site);
  check_swizzle(address, swizzle,
                {block, state, state, nullptr, address, bytes, site, block.thread_rank()});
  const Who who = state.order.block() | block.thread_rank();
  WarpgroupNotes::Read& read = warpgroup_notes_.reads[{group, address}];
  read.bytes = std::max(read.bytes, bytes);
  read.block = &block;
  read.readers.push_back(who);
  begin_reading(address, bytes, {now_, who, site_of(site)});
  ++now_;
}

void Checker::warpgroup_has_read(const void* group, const void* from, std::size_t bytes) {
  const Aside aside(aside_);
  const std::uintptr_t address = address_of(from);
  const auto read = warpgroup_notes_.reads.find({group, address});
  if (read == warpgroup_notes_.reads.end() || read->second.readers.empty()) return;
  const SyncObject& object = objects_of(group, state_of(*host::current_block))[address_of(group)];
  end_reading(address, bytes, read->second.readers.front(), landed(object.number, object.phases));
  read->second.readers.erase(read->second.readers.begin());
}

void Checker::tiles_swizzled(std::optional<host::Swizzle> swizzle) {
  warpgroup_notes_.swizzle = swizzle;
}

// Checks whether the bulk load that wrote the tile used the swizzle of this read.
void Checker::check_swizzle(std::uintptr_t address, host::Swizzle swizzle, const Passage& passage) {
  const Aside aside(aside_);
  const auto behind = bulk_writes_.upper_bound(address);
  if (behind == bulk_writes_.begin()) return;
  const auto& [begin, copy] = *std::prev(behind);
  if (address - begin >= copy.bytes || !copy.swizzle || *copy.swizzle == swizzle) return;
  bool is_last = false; // no later write to this address
  for_each_cell(address, 1, [&](Page& page, std::size_t cell) {
    is_last = page.cells[cell].written >= kInFlight;
  });
  const Site site = site_of(passage.instruction);
  if (!is_last || !findings_.is_new(Fault::proxy, site, copy.site)) return;
  findings_.add(
      Fault::proxy, site, copy.site,
      fmt::format(
          "{}: {}, as a tile {}, which the bulk copy at {} wrote {}\n  hint: let tensor map "
          "and matrix descriptor name the same swizzle",
          accesses("reads by wgmma", passage),
          variable(address, passage.owner, passage.block.launch()), name_of(swizzle),
          source_line(copy.site), name_of(*copy.swizzle)));
}

void Checker::forget_warpgroup_reads(const host::Block* block) {
  std::erase_if(warpgroup_notes_.reads, [&](const auto& entry) {
    const WarpgroupNotes::Read& read = entry.second;
    if (block && read.block != block) return false;
    settle_accesses(entry.first.second, read.bytes);
    return true;
  });
}

} // namespace kg::check
