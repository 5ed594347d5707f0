// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The path of every access, to be inlined by hooks.cpp.
#pragma once

#include "runtime/host/check/cell_check.h"
#include "runtime/host/check/checker.h"
#include "runtime/ptx/library.h"

#include <algorithm>

namespace kg::check {

// An access that the fast path cannot settle, or that does not consist of whole cells.
template <Kind kind>
[[gnu::noinline]] void Checker::access_slowly(std::uintptr_t address, std::size_t bytes,
                                              std::size_t alignment, const void* instruction) {
  if (bytes == 0 || aside_) return; // the address is irrelevant
  host::Block* const block = host::current_block;
  BlockState& state = state_of(*block);
  if (pending_.bytes != 0) resolve_pending();
  const auto page_of = [&] {
    Page* const known = shadow_.find(address);
    return known ? known : unknown_page(address, *block);
  };
  Page* page = page_of();
  if (page && page->space == Space::local) return;
  if (kind == Kind::write && page) ++host::looks.changes;
  if (!is_write(kind) && page) page->was_read = true;
  if (state.until_preemption != 0 && --state.until_preemption == 0) {
    preempt(state, *block, site_of(instruction));
    page = page_of(); // blocks that began or ended have removed pages
  }
  const Aside aside(aside_);
  BlockState& owner = owner_of(address, page, state);
  Passage passage{*block, state, owner, page, address, bytes, instruction, block->thread_rank()};
  if constexpr (kind == Kind::read) {
    const Access me{now_, state.order.block() | passage.thread, site_of(instruction)};
    if (page && page->judged_in != launch_floor_ && reads_.begins(address, bytes, instruction, me))
      return;
  }
  if (!page)
    return stop(Fault::out_of_bounds, passage, is_write(kind),
                "pass a pointer to device memory, and look at what the index is");
  if ((address & (alignment - 1)) != 0)
    return stop(Fault::misaligned, passage, is_write(kind),
                "align the pointer, or use the wide access only where it is aligned");
  if (page->space == Space::dynamic_shared &&
      address + bytes - owner.dynamic_shared > owner.dynamic_shared_bytes) {
    const std::size_t fixed = ptx_run::static_shared(block->launch().kernel).bytes;
    return stop(Fault::out_of_bounds, passage, is_write(kind),
                fixed > 0 && fixed == owner.dynamic_shared_bytes
                    ? "fix the index"
                    : "raise shared_bytes of the launch, or fix the index");
  }

  if (!owner.running)
    return stop(Fault::out_of_bounds, passage, is_write(kind),
                "let no block of a cluster end before the others' last look at its shared memory");

  for (const std::uintptr_t end = address + bytes; address != end;) {
    passage.page = page = shadow_.find(address);
    passage.address = address;
    if (!page) // the range extends past all known memory
      return stop(Fault::out_of_bounds, passage, is_write(kind), "fix the index");
    judge_from_now_on(*page, state.order);
    enter_notes(address, end - address, state.order);
    const std::size_t offset = address % kPageBytes;
    const std::size_t part = std::min<std::size_t>(end - address, kPageBytes - offset);
    page->make_cells(offset, part);
    const std::size_t last = page->cell_of(offset + part - 1);
    // Cells with one history before the access have one after it.
    struct Past {
      Cell cell;
      History history;
    } before{}, after{};
    bool known = false;
    for (std::size_t cell = page->cell_of(offset); cell <= last; ++cell) {
      Cell& each = page->cells[cell];
      History& history = page->history[cell];
      if (known && each == before.cell && (each.reads == 0 || history == before.history)) {
        each = after.cell;
        if (each.reads != 0) history = after.history;
        continue;
      }
      before = {each, history};
      passage.address = page->address_of(cell);
      known = cell_accessed<kind>(*page, cell, passage);
      after = {each, history};
    }
    address += part;
  }
}

// Records a read that needs no check, because its cell was last written before `to` or by the host.
// False if the read is not that simple.
inline bool Checker::entered(Cell& last, History& history, Time to, const Access& me) const {
  if (last.reads == 2 * now_ + 1 || last.reads == read_enough_) return true;
  Access& first = history.others[0];
  Access& second = history.others[1];
  if (last.reads <= 2 * to + 1) {
    first = me;
    second = {};
    last.reads = 2 * now_;
    return true;
  }
  if (first.time != now_ || (first.who | second.who) >= kVolatile) return false;
  if (first.who == me.who) return true;
  if (second.time <= to || (second.time == now_ && same_warp(first.who, second.who))) {
    // At one moment, a third reader of one warp adds nothing; a reader of another warp suffices.
    const bool other_warp = !same_warp(first.who, me.who);
    if (second.time <= to || other_warp) second = me;
    last.reads = 2 * now_ + other_warp;
    return true;
  }
  return false;
}

// Whether all accesses of the cell after `to`, up to which all are settled, are plain ones of the
// running thread, as in sums that each thread keeps in memory. `settled`: the last write is.
inline bool Checker::is_own(const Cell& cell, const History& history, bool settled, Time to,
                            const Access& me) const {
  const bool written =
      settled || (cell.writer == me.who && cell.written > to && cell.written <= now_);
  const auto& [first, second] = history.others;
  return written && (cell.reads <= 2 * to + 1 ||
                     (cell.reads <= 2 * now_ + 1 && first.who == me.who && second.time <= to));
}

// Notes a further read of a quad at the moment of its first read. False if there was no first read.
// Like words_written(), it must not contain calls, which would make every access save registers.
[[gnu::always_inline]] inline bool Checker::read_again(std::size_t quad, const void* instruction,
                                                       const host::Block& block) {
  if (quads_.time(quad) != now_) [[unlikely]]
    return false;
  const unsigned thread = block.thread_rank();
  if (!quads_.lacks(quad, thread / 32)) [[likely]]
    return true;
  if (!is_near(instruction)) [[unlikely]]
    return false;
  quads_.add(quad, quads_.block() | thread, site_of(instruction));
  return true;
}

// Notes the first read of a quad if it is certainly valid; otherwise checks it.
[[gnu::noinline]] inline void Checker::read_first(host::Block& block, std::uintptr_t address,
                                                  const void* instruction) {
  const std::size_t quad = quads_.number(address);
  const Cell* const cells = quads_.words(address);
  if (cells && quads_.time(quad) <= quads_.floor() && is_near(instruction)) {
    const Time from = quads_.started() + 1; // as in BlockState::settled()
    Time latest = 0;
    for (std::size_t i = 0; i < kQuadBytes / 4; ++i)
      latest = std::max(latest, cells[i].written - from);
    if (latest < quads_.floor() + 1 - from)
      return quads_.begin(quad, now_, quads_.block() | block.thread_rank(), site_of(instruction));
  }
  access_cells<Kind::read>(block, address, kQuadBytes, kQuadBytes, instruction);
}

// Records a write of whole words for which notes are taken, if it is a simple one. False if it has
// to be checked.
template <std::size_t kBytes>
[[gnu::always_inline]] inline bool
Checker::words_written(std::uintptr_t address, const void* instruction, const host::Block& block) {
  const std::size_t quad = quads_.number_around(address);
  if (quad >= quads_.count() || address % kBytes != 0 || pending_.bytes != 0) [[unlikely]]
    return false;
  const Time to = quads_.floor();
  Cell* const cells = quads_.words(address);
  if (!cells || quads_.time(quad) > to) [[unlikely]]
    return false;
  constexpr Time kFrom = kUninitialised; // as in BlockState::settled()
  Time latest = 0;
  Reads reads = 0;
  for (std::size_t i = 0; i < kBytes / 4; ++i) {
    latest = std::max(latest, cells[i].written - kFrom);
    reads = std::max(reads, cells[i].reads);
  }
  if (latest >= to + 1 - kFrom || reads > 2 * to + 1 || !is_near(instruction)) [[unlikely]]
    return false;
  const Cell written{now_, 0, quads_.block() | block.thread_rank(), site_of(instruction)};
  for (std::size_t i = 0; i < kBytes / 4; ++i) cells[i] = written;
  ++host::looks.changes;
  return true;
}

// Moves notes of a range that may still conflict into the shadow, before a check that needs them.
inline void Checker::enter_notes(std::uintptr_t address, std::size_t bytes,
                                 const BlockOrder& order) {
  const std::size_t first = quads_.number_around(address);
  if (first >= quads_.count()) return;
  const std::size_t last = std::min(quads_.number_around(address + bytes - 1), quads_.count() - 1);
  for (std::size_t quad = first; quad <= last; ++quad)
    if (quads_.time(quad) > order.block_floor()) enter_note(quad, order);
}

// The thread's stack in most cases: merges adjacent pages found recently.
inline void Checker::found_local(const Page& page) {
  const std::uintptr_t begin = page.number << kPageBits;
  if (begin + kPageBytes == local_.begin) {
    local_ = {begin, local_.bytes + kPageBytes};
  } else if (begin == local_.begin + local_.bytes) {
    local_.bytes += kPageBytes;
  } else {
    local_ = {begin, kPageBytes};
  }
}

template <Kind kind>
inline void Checker::access(std::uintptr_t address, std::size_t bytes, std::size_t alignment,
                            const void* instruction) {
  host::Block* const block = host::current_block;
  if (!block) [[unlikely]] {
    if (work_pends_ && shared_.contains(address)) host_accessed(kind, address, bytes, instruction);
    return;
  }
  if constexpr (kind == Kind::read) {
    if (bytes == kQuadBytes && alignment == kQuadBytes) {
      const std::size_t quad = quads_.number(address);
      if (quad < quads_.count()) [[likely]] {
        if (!read_again(quad, instruction, *block)) read_first(*block, address, instruction);
        return;
      }
    }
    const unsigned thread = block->thread_rank();
    const Memo& memo = state_of(*block).memo_of(address);
    if (memo.is_of(address, bytes, now_) && memo.covers_read_by(thread)) return;
    if (reads_.continues(address, bytes, instruction, thread, now_)) return;
    if (local_.contains(address)) return;
  }
  if constexpr (is_write(kind)) {
    if (undefined_.stores()) [[unlikely]]
      undefined_.overwrite(address, bytes);
  }
  if constexpr (kind == Kind::write) {
    if (bytes == 4 && alignment == 4 && words_written<4>(address, instruction, *block)) return;
    if (bytes == 16 && alignment == 16 && words_written<16>(address, instruction, *block)) return;
    if (local_.contains(address)) return;
    const unsigned thread = block->thread_rank();
    const Memo& memo = state_of(*block).memo_of(address);
    if (memo.whose == thread && memo.is_of(address, bytes, now_)) {
      ++host::looks.changes;
      return;
    }
  }
  access_cells<kind>(*block, address, bytes, alignment, instruction);
}

// Accesses that can be settled by the cells of one page.
template <Kind kind>
[[gnu::noinline]] void Checker::access_cells(host::Block& block, std::uintptr_t address,
                                             std::size_t bytes, std::size_t alignment,
                                             const void* instruction) {
  BlockState& state = state_of(block);
  const unsigned thread = block.thread_rank();
  const Access me{now_, state.order.block() | thread, site_of(instruction)};
  if constexpr (kind == Kind::read) {
    if (reads_.resumes(address, bytes, instruction, me)) return;
  }
  Page* const page = shadow_.recent(address);
  // Built-in variables are in thread-local storage, like static shared memory.
  if ((!page || page->space == Space::static_shared) && is_built_in(address)) return;
  if (page && page->space == Space::local) return found_local(*page);
  // Conditions of the fast path: a page with cells, an aligned access of whole cells, and no other
  // pending work.
  if (!page || page->judged_in != launch_floor_ || !page->has_cells() ||
      (address & (alignment - 1)) != 0 || alignment != bytes || bytes >> page->shift == 0 ||
      pending_.bytes != 0 || state.until_preemption == 1 ||
      (state.together && page->space != Space::global) ||
      (page->space == Space::dynamic_shared &&
       address + bytes - state.dynamic_shared > state.dynamic_shared_bytes)) [[unlikely]]
    return access_slowly<kind>(address, bytes, alignment, instruction);

  if (state.until_preemption != 0) --state.until_preemption;
  if constexpr (kind == Kind::write) ++host::looks.changes;
  if constexpr (!is_write(kind)) page->was_read = true;
  enter_notes(address, bytes, state.order);
  const auto [from, to] = state.settled(*page, kind);
  const std::size_t cell = page->cell_of(address % kPageBytes);
  const std::size_t count = bytes >> page->shift;
  Cell* const cells = &page->cells[cell];
  History* const history = &page->history[cell];
  bool enough = true;  // for this warp at this moment
  bool anyones = true; // for all readers
  bool own = true;     // written by this thread at this moment
  for (std::size_t i = 0; i < count; ++i) {
    const bool simple = cells[i].written - from < to + 1 - from; // the range may be empty
    if constexpr (kind == Kind::read) {
      if (simple && entered(cells[i], history[i], to, me)) {
        enough = enough && history[i].others[1].time == now_;
        anyones = anyones && (cells[i].reads == 2 * now_ + 1 || cells[i].reads == read_enough_);
        own = false;
        continue;
      }
    }
    if constexpr (kind == Kind::write) {
      if (simple && cells[i].reads <= 2 * to + 1) {
        cells[i] = {now_, 0, me.who, me.site};
        continue;
      }
    }
    if (!is_atomic(kind) && is_own(cells[i], history[i], simple, to, me)) {
      if constexpr (kind == Kind::read) {
        history[i].others[0] = me;
        if (cells[i].reads <= 2 * to + 1) history[i].others[1] = {};
        cells[i].reads = 2 * now_;
        enough = false;
        own = own && cells[i].writer == me.who && cells[i].written == now_;
      } else {
        cells[i] = {now_, 0, me.who, me.site};
      }
      continue;
    }
    Passage passage{block, state,       state, page, address + (i << page->shift),
                    bytes, instruction, thread};
    for (; i < count; ++i, passage.address += std::size_t{1} << page->shift)
      cell_accessed<kind>(*page, cell + i, passage);
    return;
  }
  if (kind == Kind::read && (enough || anyones || own)) {
    const unsigned whose = own ? thread : anyones ? Memo::kAnyones : Memo::kWarps | thread / 32;
    state.memo_of(address) = {address, now_, static_cast<std::uint16_t>(bytes),
                              static_cast<std::uint16_t>(whose)};
  }
}

template <Kind kind>
inline void Checker::atomic_access(std::uintptr_t address, std::size_t bytes,
                                   const void* instruction) {
  access<kind>(address, bytes, bytes, instruction);
  host::Block* const block = host::current_block;
  if (!block) return;
  if (Page* const page = shadow_.recent(address)) page->was_read = true; // the operation's result
  BlockState& state = state_of(*block);
  BlockOrder& order = state.order;
  SyncObjects& objects = objects_of(reinterpret_cast<const void*>(address), state);
  const unsigned thread = block->thread_rank();
  if (is_write(kind) && !guesses_.empty()) confirm_guess(order.block() | thread, address, bytes);
  // A value that is written atomically is usually read as well; a plain store acquires nothing that
  // it could use.
  const auto object = objects.find(address);
  const bool releases = is_write(kind) && order.has_fence(thread);
  // The reference counts of the executor's or this checker's shared_ptr do not synchronize kernels.
  if ((object == objects.end() && !releases) || is_common_code(site_of(instruction))) return;
  const Aside aside(aside_); // reference counts of clock pointers are not kernel memory
  if (object != objects.end()) order.acquire_atomic(thread, object->second);
  if (releases) order.release_fenced(thread, objects[address]);
}

} // namespace kg::check
