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

#include "runtime/host/check/order.h"
#include "runtime/host/check/shadow.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kg::check {

inline constexpr std::size_t kQuadBytes = 16;

// The moment of the latest reads of a quad, and the warps, a bit each, of which further readers add
// nothing. Apart from the readers, because this settles most reads by itself.
struct QuadNote {
  Time time = 0;
  std::uint32_t enough = 0;
};

// Who read in that moment: two of different warps are enough, see History; of one warp, two as long
// as no other warp reads. There is a second one where some warp has read enough.
struct QuadReaders {
  struct Reader {
    Who who;
    Site site;
  };
  Reader first, second;
};

class QuadNotes {
 public:
  // For a block that begins, whose dynamic shared memory is `bytes` from `begin` on, a multiple of
  // 16.
  void open(const BlockOrder& order, std::uintptr_t begin, std::size_t bytes, Shadow& shadow) {
    block_ = order.block();
    started_ = floor_ = order.started();
    begin_ = begin;
    count_ = bytes / kQuadBytes;
    if (notes_.size() < count_) {
      notes_.resize(count_);
      readers_.resize(count_);
    }
    pages_.clear();
    for (std::uintptr_t at = begin / kPageBytes * kPageBytes; at < begin + bytes;
         at += kPageBytes) {
      pages_.push_back(shadow.find(at));
      if (!pages_.back() || pages_.back()->space != Space::dynamic_shared) return close();
    }
  }
  // After a barrier of the block.
  void synchronised(const BlockOrder& order) { floor_ = order.block_floor(); }
  // Takes no more notes for this block.
  void close() { count_ = 0; }
  // Before the clock starts anew.
  void forget() { std::fill(notes_.begin(), notes_.end(), QuadNote()); }

  std::uintptr_t begin() const { return begin_; }
  std::size_t bytes() const { return count_ * kQuadBytes; }

  // The number of the quad at an address. Notes are taken of those below count(), which the number
  // of an address between two quads never is: its odd bits become the highest ones.
  std::size_t number(std::uintptr_t address) const {
    return std::rotr(address - begin_, std::countr_zero(kQuadBytes));
  }
  // Of the quad in which an address is.
  std::size_t number_around(std::uintptr_t address) const {
    return (address - begin_) / kQuadBytes;
  }
  std::size_t count() const { return count_; }

  // What BlockOrder says, close at hand.
  Who block() const { return block_; }
  Time started() const { return started_; }
  Time floor() const { return floor_; }

  // The cells of the words from an address within a quad on; null where there are none of 4 bytes.
  Cell* words(std::uintptr_t address) const {
    const Page& page = *pages_[address / kPageBytes - begin_ / kPageBytes];
    constexpr unsigned char kShift = 2;
    if (page.shift != kShift || !page.has_cells()) return nullptr;
    return &page.cells[address % kPageBytes >> kShift];
  }

  Time time(std::size_t quad) const { return notes_[quad].time; }
  // The first reader of its moment.
  void begin(std::size_t quad, Time now, Who who, Site site) {
    notes_[quad] = {now, 0};
    readers_[quad].first = {who, site};
  }
  // Another reader in the moment of the first; where nothing is lacking, it need not be added.
  bool lacks(std::size_t quad, unsigned warp) const {
    return (notes_[quad].enough >> warp & 1) == 0;
  }
  void add(std::size_t quad, Who who, Site site) {
    QuadReaders& readers = readers_[quad];
    if (readers.first.who == who) return;
    readers.second = {who, site};
    notes_[quad].enough = same_warp(readers.first.who, who) ? 1u << (who & kThreadMask) / 32 : ~0u;
  }
  // Takes a note out: its one or two reads, the second {} where there is none.
  std::array<Access, 2> take(std::size_t quad) {
    const QuadNote note = std::exchange(notes_[quad], {});
    const auto& [first, second] = readers_[quad];
    return {Access{note.time, first.who, first.site},
            note.enough != 0 ? Access{note.time, second.who, second.site} : Access{}};
  }

 private:
  std::uintptr_t begin_ = 0;
  std::size_t count_ = 0; // 0: no notes are taken
  Who block_ = 0;
  Time started_ = 0;
  Time floor_ = 0;
  std::vector<QuadNote> notes_;
  std::vector<QuadReaders> readers_;
  std::vector<const Page*> pages_; // of the shared memory
};

} // namespace kg::check
