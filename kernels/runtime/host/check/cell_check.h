// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The check of one cell against its history, to be inlined by access_check.h.
#pragma once

#include "runtime/host/check/checker.h"

#include <algorithm>

namespace kg::check {

// Checks an access against the full history of a cell, and records it there. False if it did more
// than that, so that the next cell of the access needs a check of its own.
template <Kind kind>
[[gnu::noinline]] bool Checker::cell_accessed(Page& page, std::size_t cell,
                                              const Passage& passage) {
  const BlockOrder& order = passage.state.order;
  const unsigned thread = passage.thread;
  const bool shared = page.space != Space::global;
  Cell& last = page.cells[cell];
  bool plain = !is_atomic(kind);
  if (last.written < kFirstMoment || (shared && last.written <= passage.owner.order.started())) {
    if (!usable<kind>(page, cell, passage)) return false;
    plain = is_write(kind) || last.written == kHostWrote;
  }
  History& history = page.history[cell];
  Access& first = history.others[0];
  Access& second = history.others[1];
  if (last.reads == 0) first = second = {};
  const Access write{last.written, last.writer, last.write_site};
  const Access me{now_, order.block() | thread | flags(kind), site_of(passage.instruction)};
  // Two atomic accesses do not conflict, but two volatile accesses of one warp do.
  const auto excused = [&](const Access& other) {
    return is_atomic(kind) && (other.who & kAtomic) &&
           !(shared && (me.who & other.who & kVolatile) && same_warp(me.who, other.who));
  };

  const bool write_ordered = order.before(write, thread);
  if (!write_ordered && !excused(write)) {
    conflict<kind>(write, passage, true);
    plain = false;
  }
  for (Access* other : {&first, &second}) {
    if (!(is_write(kind) || (other->who & kWrite)) || excused(*other)) continue;
    // Atomic operations on one word are ordered: a thread that knows the last one knows all, except
    // for bulk reductions in flight.
    if (write_ordered && (other->who & kWrite) && (write.who & other->who & kAtomic) &&
        other->time != kInFlight)
      continue;
    if (order.before(*other, thread)) continue;
    conflict<kind>(*other, passage, (other->who & kWrite) != 0);
    plain = false;
  }
  // Remembers the guess: the executor's atomics read before they write, which replaces its record.
  if constexpr (is_atomic(kind)) {
    const Who mine = order.block() | thread;
    for (const Access* other : {&first, &second})
      if (other->time > launch_floor_ && other->who == mine)
        guessed_ = {passage.address, mine, other->site};
    if (is_write(kind) && guessed_.address == passage.address && guessed_.who == mine)
      confirmed_.insert(guessed_.site);
  }
  if constexpr (is_write(kind)) {
    for (Access* other : {&first, &second})
      if (!is_atomic(kind) || order.before(*other, thread)) *other = {};
    // Later accesses are compared with this write; it may be excused where the last write was not.
    if (is_atomic(kind) && !order.known_to_all(write) && !(write_ordered && (write.who & kAtomic)))
      second = {write.time, write.who | kWrite, write.site};
    last = {me.time, 2 * std::max(first.time, second.time), me.who, me.site};
  } else {
    enter_read(last, history, me, order, shared);
  }
  return plain;
}

// Records a read in the history of its cell.
inline void Checker::enter_read(Cell& last, History& history, const Access& me,
                                const BlockOrder& order, bool shared) const {
  const unsigned thread = me.who & kThreadMask;
  Access& first = history.others[0];
  Access& second = history.others[1];
  // Reads by a bulk copy stay until the copy is waited for.
  const bool first_stays = first.time == kInFlight, second_stays = second.time == kInFlight;
  if (!first_stays && (first.who == me.who || order.before(first, thread))) {
    first = me;
  } else if (!second_stays && (second.who == me.who || order.before(second, thread) ||
                               same_warp(first.who, second.who) || (second.who & kWrite))) {
    // If the first read is of the same warp, it also represents the discarded read; and the last
    // write represents an atomic write before it.
    second = me;
  }
  // After two readers of different warps at this moment, or of two blocks, a third reader adds
  // nothing.
  if (first_stays || second_stays) return;
  const bool in_launch = first.time > launch_floor_ && second.time > launch_floor_;
  if (!shared && in_launch && ((first.who ^ second.who) & kBlockMask) != 0) {
    last.reads = read_enough_;
  } else {
    const bool now = first.time == me.time && second.time == me.time;
    last.reads = 2 * me.time + (now && !same_warp(first.who, second.who));
  }
}

// Reports invalid memory. False if the access need not be recorded.
template <Kind kind>
bool Checker::usable(Page& page, std::size_t cell, const Passage& passage) {
  const Time state = page.cells[cell].written;
  if (state == kHostWrote) return true;
  if (state == kNotShadowed) return false;
  if (state == kGuard || state == kFreed) {
    stop(state == kFreed ? Fault::freed : Fault::out_of_bounds, passage, is_write(kind),
         state == kFreed ? "keep the buffer until the work that uses it has finished"
                         : "guard the access by the size, or fix the index");
    return false;
  }
  // Uninitialized, or shared memory written by an earlier block.
  if (!is_write(kind)) {
    const Span bytes{page.address_of(cell), std::size_t{1} << page.shift};
    uninitialised(passage, bytes, kind != Kind::atomic_read);
  }
  if (page.space != Space::global && page.cells[cell].reads / 2 <= passage.owner.order.started())
    page.set(cell, kUninitialised);
  page.cells[cell].written = kUninitialised;
  return true;
}

} // namespace kg::check
