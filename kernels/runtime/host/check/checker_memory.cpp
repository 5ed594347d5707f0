// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device memory, as the host allocates, frees, writes and copies it.
#include "runtime/host/check/checker.h"
#include "runtime/host/grid_window.h"
#include "runtime/memory.h"

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
  fill_.ended(memory_.buffer_in(address_of(block) + kGuardBytes, 1), shadow_);
  memory_.release(block);
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
  if (shadow_.find(address_of(from)) && shadow_.find(address_of(to))) {
    shadow_.copy(address_of(to), address_of(from), bytes);
    work_touches(from, bytes, host::Touch::read);
    work_touches(to, bytes, host::Touch::write);
  } else {
    written(to, bytes);
  }
}

} // namespace kg::check
