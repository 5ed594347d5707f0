// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads of 16 bytes of a block's dynamic shared memory, which tiled kernels do most of the time. A
// quad that was written before the last barrier and not since is right to read, and all there is to
// remember is who read it, because a later write may conflict with it. So such reads are only noted
// here, one note per quad, and entered into the shadow when, and if, anything else happens to the
// quad before the next barrier; after it they are ordered before everything.
//
// A note that may still conflict is later than everything in the cells of its quad: whatever else
// reaches the quad enters the note first. As in read_log.h, what the cells then get is what they
// would have got at once as long as only whole blocks and whole warps synchronise; before anything
// else orders two threads of the block, its notes have to be closed.
#pragma once

#include "runtime/host/check/access.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kg::check {

inline constexpr std::size_t kQuadBytes = 16;

// The moment of the latest reads of a quad, and how many more of them need noting. Apart from the
// readers, because this settles most reads by itself.
struct QuadNote {
  static constexpr unsigned kNone = std::numeric_limits<unsigned>::max();
  static constexpr unsigned kAll = kNone - 1;

  Time time = 0;
  unsigned enough = kNone; // the warp of which further readers add nothing, or kAll
};

// Who read in that moment: two of different warps are enough, see History; of one warp, two as long
// as no other warp reads.
struct QuadReaders {
  Access first, second; // the second is {} while there is none
};

class QuadNotes {
 public:
  // For a block whose dynamic shared memory is `bytes` from `begin` on, a multiple of 16.
  void open(std::uintptr_t begin, std::size_t bytes) {
    begin_ = begin;
    span_ = bytes / kQuadBytes * kQuadBytes;
    if (notes_.size() < span_ / kQuadBytes) {
      notes_.resize(span_ / kQuadBytes);
      readers_.resize(span_ / kQuadBytes);
    }
  }
  // Takes no more notes for this block.
  void close() { span_ = 0; }
  // Before the clock starts anew.
  void forget() { std::fill(notes_.begin(), notes_.end(), QuadNote()); }

  bool covers(std::uintptr_t address) const { return address - begin_ < span_; }
  std::uintptr_t begin() const { return begin_; }
  std::uintptr_t end() const { return begin_ + span_; }

  // Of a quad that is covered.
  Time time(std::uintptr_t quad) const { return notes_[index(quad)].time; }
  // Whether a read adds nothing to what is noted.
  bool says_enough(std::uintptr_t quad, unsigned warp, Time now) const {
    const QuadNote& note = notes_[index(quad)];
    return note.time == now && (note.enough == warp || note.enough == QuadNote::kAll);
  }
  // The first reader of its moment.
  void begin(std::uintptr_t quad, const Access& me) {
    notes_[index(quad)] = {me.time, QuadNote::kNone};
    readers_[index(quad)] = {me, {}};
  }
  // A further one.
  void add(std::uintptr_t quad, const Access& me) {
    QuadReaders& readers = readers_[index(quad)];
    if (readers.first.who == me.who) return;
    readers.second = me;
    notes_[index(quad)].enough =
        same_warp(readers.first.who, me.who) ? (me.who & kThreadMask) / 32 : QuadNote::kAll;
  }
  // Takes a note out.
  QuadReaders take(std::uintptr_t quad) {
    notes_[index(quad)] = {};
    return readers_[index(quad)];
  }

 private:
  std::size_t index(std::uintptr_t quad) const { return (quad - begin_) / kQuadBytes; }

  std::uintptr_t begin_ = 0;
  std::size_t span_ = 0; // 0: no notes are taken
  std::vector<QuadNote> notes_;
  std::vector<QuadReaders> readers_;
};

} // namespace kg::check
