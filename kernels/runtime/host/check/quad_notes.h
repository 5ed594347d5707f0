// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads of 16 bytes (quads) from a block's dynamic shared memory, the most frequent access of tiled
// kernels. Reading a quad that was last written before the last barrier is valid; only the readers
// must be recorded, because a later write may conflict with them. So such reads are only noted
// here, one note per quad. They move to the shadow only if another access touches the quad before
// the next barrier; after the barrier they are ordered before everything.
//
// A note that may still conflict is later than everything in the cells of its quad: any other
// access to the quad first moves the note to the shadow. As in read_log.h, the cells then hold the
// same state as with immediate recording, if only whole blocks and whole warps synchronize. Before
// any other synchronization between two threads of the block, its notes must be closed.
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

// The moment of a quad's latest reads, and a bit per warp whose further reads add nothing. Separate
// from the readers, because most reads need only this.
struct QuadNote {
  Time time = 0;
  std::uint32_t enough = 0;
};

// The readers at that moment: two of different warps suffice, see History; two of the same warp if
// no other warp reads. The second is set if some warp's bit in `enough` is set.
struct QuadReaders {
  struct Reader {
    Who who;
    Site site;
  };
  Reader first, second;
};

class QuadNotes {
 public:
  // Starts a block whose dynamic shared memory is `bytes` bytes (a multiple of 16) at `begin`.
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
  // Called after a barrier of the block.
  void synchronised(const BlockOrder& order) { floor_ = order.block_floor(); }
  // Stops taking notes for this block.
  void close() { count_ = 0; }
  // Called before the clock restarts.
  void forget() { std::fill(notes_.begin(), notes_.end(), QuadNote()); }

  std::uintptr_t begin() const { return begin_; }
  std::size_t bytes() const { return count_ * kQuadBytes; }

  // The number of the quad at an address. Notes exist for numbers below count(). An address that is
  // not a multiple of 16 never has such a number: its low bits become the highest bits.
  std::size_t number(std::uintptr_t address) const {
    return std::rotr(address - begin_, std::countr_zero(kQuadBytes));
  }
  // The number of the quad that contains an address.
  std::size_t number_around(std::uintptr_t address) const {
    return (address - begin_) / kQuadBytes;
  }
  std::size_t count() const { return count_; }

  // Cached values of BlockOrder.
  Who block() const { return block_; }
  Time started() const { return started_; }
  Time floor() const { return floor_; }

  // The cells of the words from an address within a quad on; null if the cells are not 4 bytes.
  Cell* words(std::uintptr_t address) const {
    const Page& page = *pages_[address / kPageBytes - begin_ / kPageBytes];
    constexpr unsigned char kShift = 2;
    if (page.shift != kShift || !page.has_cells()) return nullptr;
    return &page.cells[address % kPageBytes >> kShift];
  }

  Time time(std::size_t quad) const { return notes_[quad].time; }
  // The first reader at its moment.
  void begin(std::size_t quad, Time now, Who who, Site site) {
    notes_[quad] = {now, 0};
    readers_[quad].first = {who, site};
  }
  // Whether another reader at the first reader's moment must be added.
  bool lacks(std::size_t quad, unsigned warp) const {
    return (notes_[quad].enough >> warp & 1) == 0;
  }
  void add(std::size_t quad, Who who, Site site) {
    QuadReaders& readers = readers_[quad];
    if (readers.first.who == who) return;
    readers.second = {who, site};
    notes_[quad].enough = same_warp(readers.first.who, who) ? 1u << (who & kThreadMask) / 32 : ~0u;
  }
  // Removes a note and returns its one or two reads; the second is {} if there is none.
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
