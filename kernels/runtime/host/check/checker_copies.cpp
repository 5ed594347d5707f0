// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies within kernels.
#include "runtime/host/check/access_check.h"
#include "runtime/host/check/cells.h"
#include "runtime/host/check/checker.h"

namespace kg::check {

// The copy counts as accesses by its thread, but no thread may access the destination before the
// copy has arrived.
void Checker::async_copy_issued(void* to, const void* from, std::size_t bytes,
                                std::size_t source_bytes, Location where) {
  const Location* const site = &remembered(where);
  access<Kind::read>(address_of(from), source_bytes, 1, site);
  settle_undefined_load();
  access<Kind::write>(address_of(to), bytes, 1, site);
  pending_.bytes = 0; // the data has not been written yet
  copies_[address_of(to)] = {bytes, now_};
  set_write_time(address_of(to), bytes, kInFlight);
  BlockState& state = state_of(*host::current_block);
  constexpr std::uintptr_t kBefore = 12; // a word of 16 bytes that begins there reaches the copy
  for (std::uintptr_t at = address_of(to) - kBefore; at < address_of(to) + bytes; at += 4)
    state.memo_of(at) = {};
}

void Checker::async_copy_arrived(void* to, std::size_t bytes, bool handed_over) {
  const auto copy = copies_.find(address_of(to));
  // Its thread released all previously issued copies to the mbarrier.
  const Time time = handed_over && copy != copies_.end() ? copy->second.issued : now_;
  if (copy != copies_.end()) copies_.erase(copy);
  set_write_time(address_of(to), bytes, time);
}

void Checker::forget_copies() {
  for (const auto& [to, copy] : copies_) set_write_time(to, copy.bytes, now_);
  copies_.clear();
}

void Checker::set_write_time(std::uintptr_t address, std::size_t bytes, Time time) {
  for_each_cell(address, bytes,
                [time](Page& page, std::size_t cell) { page.cells[cell].written = time; });
}

} // namespace kg::check
