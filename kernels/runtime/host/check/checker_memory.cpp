// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device memory, as the host allocates, frees, writes and copies it.
#include "runtime/event_file.h"
#include "runtime/host/check/checker.h"
#include "runtime/host/device_memory.h"
#include "runtime/host/grid_window.h"
#include "runtime/memory.h"

#include <fmt/format.h>

namespace kg::check {

void Checker::allocated(void* block, std::size_t block_bytes, std::size_t bytes) {
  const auto alone = between_launches();
  memory_.add(block, block_bytes, bytes);
  // Data that blocks outside a window would write counts as written.
  if (const host::GridWindow* const window = host::grid_window(); window && window->is_of_program())
    shadow_.mark(address_of(block) + kGuardBytes, bytes, kHostWrote);
  work_log_.forget(address_of(block), block_bytes);
}
bool Checker::freed(void* block) {
  const auto alone = between_launches();
  const Span buffer = memory_.buffer_in(address_of(block) + kGuardBytes, 1);
  fill_.ended(buffer, shadow_);
  note_unread(buffer);
  memory_.release(block);
  ++now_; // memos of its words end
  return true;
}
void Checker::written(void* to, std::size_t bytes) {
  const auto alone = between_launches();
  shadow_.mark(address_of(to), bytes, kHostWrote);
  work_touches(to, bytes, host::Touch::write);
}
void Checker::poisoned(void* to, std::size_t bytes) {
  const auto alone = between_launches();
  shadow_.mark(address_of(to), bytes, kUninitialised);
}
void Checker::copied(void* to, const void* from, std::size_t bytes) {
  const auto alone = between_launches();
  if (Page* const page = shadow_.find(address_of(from))) page->was_read = true;
  if (shadow_.find(address_of(from)) && shadow_.find(address_of(to))) {
    shadow_.copy(address_of(to), address_of(from), bytes);
    work_touches(from, bytes, host::Touch::read);
    work_touches(to, bytes, host::Touch::write);
  } else {
    written(to, bytes);
  }
}

// Reports a buffer that a kernel has written, and that no kernel and no copy has read. The host may
// have read what it shares with the device, and libraries anything, without being seen.
void Checker::note_unread(Span buffer) {
  if (host::host_libraries_read || host::grid_window() || shared_.contains(buffer.begin)) return;
  Site writer = 0;
  const std::uintptr_t end = buffer.begin + buffer.bytes;
  for (std::uintptr_t at = buffer.begin; at < end; at = (at / kPageBytes + 1) * kPageBytes) {
    const Page* const page = shadow_.find(at);
    if (!page) continue;
    if (page->was_read) return;
    for (std::size_t i = 0; writer == 0 && page->has_cells() && i < page->cell_count(); ++i)
      if (page->cells[i].written >= kFirstMoment) writer = page->cells[i].write_site;
  }
  if (writer == 0 || !unread_found_.insert(writer).second) return;
  write_event(kUnreadEvent,
              fmt::format("[unread] nothing reads the buffer of {} bytes that a kernel writes at "
                          "{}; copy the result to the host, or leave out the buffer",
                          buffer.bytes, source_line(writer)));
}

} // namespace kg::check
