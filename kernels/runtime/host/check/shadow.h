// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The history of all memory that kernels can reach, by pages of 4 KiB: one Cell per four bytes, and
// finer where a page is accessed in smaller pieces. A page that no kernel has touched yet needs no
// cells, and in a sparse array (runtime/host/sparse_memory.h) no entry. What settles almost every
// access by itself is kept apart from the rest.
#pragma once

#include "runtime/host/check/access.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

namespace kg::check {

inline constexpr unsigned kPageBits = 12;
inline constexpr std::size_t kPageBytes = std::size_t{1} << kPageBits;

enum class Space : unsigned char { local, global, static_shared, dynamic_shared };

// When a cell was last read: twice the moment of the latest of History::others, plus one if further
// reads in the same moment would add nothing; or kReadEnough plus the number of the launch in which
// they would add nothing at all. 0: never since the last write.
using Reads = std::uint32_t;
inline constexpr Reads kReading = 2 * kInFlight; // a bulk copy reads it until it is waited for
inline constexpr Reads kReadEnough = 0x80000000;

// The last write of a cell, and when it was read: all that most accesses ask and most writes set,
// and so 16 bytes side by side.
struct Cell {
  Time written;
  Reads reads;
  Who writer;
  Site write_site;
};

// Two further accesses that later ones can still conflict with: reads, or atomic writes that the
// last write is not ordered after. Two readers of different warps are enough: any later writer
// differs from one.
struct History {
  Access others[2];
};

struct Page {
  std::uintptr_t number = 0; // address >> kPageBits
  Space space = Space::local;
  unsigned char shift = 2;  // log2 of the bytes per cell
  Time fill = kNotShadowed; // state of all cells while there are none
  Time judged_in = 0; // the launch, by its beginning, in which all accesses are judged at once
  std::unique_ptr<Cell[]> cells;
  std::unique_ptr<History[]> history;

  bool has_cells() const { return cells != nullptr; }
  std::size_t cell_count() const { return kPageBytes >> shift; }
  std::size_t cell_of(std::size_t offset) const { return offset >> shift; }
  void make_cells();
  void make_cells(std::size_t offset, std::size_t bytes); // that begin and end where a range does
  void drop_cells(Time state);
  void set(std::size_t cell, Time state); // forgets its accesses
  void split(unsigned char shift);        // makes cells of 1 << shift bytes
};

class Shadow {
 public:
  // The page of an address, or null when nothing of it was ever added.
  Page* find(std::uintptr_t address) {
    Page* const page = recent(address);
    return page ? page : find_slowly(address >> kPageBits);
  }
  // The same, if it is among those found lately.
  Page* recent(std::uintptr_t address) {
    const std::uintptr_t number = address >> kPageBits;
    Page* const page = recent_[number % kRecent];
    return page && page->number == number ? page : nullptr;
  }

  // Adds the pages of a range where they are missing, or were local; they are in state `fill`.
  void add(std::uintptr_t address, std::size_t bytes, Space space, Time fill);
  // Drops every page that lies wholly in a range.
  void remove(std::uintptr_t address, std::size_t bytes);
  // Sets the state of every byte of a range whose pages exist.
  void mark(std::uintptr_t address, std::size_t bytes, Time state);
  // The state of one byte: one of the values below kFirstMoment, or a moment. Its page exists.
  Time state(std::uintptr_t address);
  // Whether every byte of a range, whose pages exist, was last written by the host or by `latest`.
  bool written_by(Time latest, std::uintptr_t address, std::size_t bytes);
  // Of a range, what nothing has written; 0 bytes where all of it is.
  struct Unwritten {
    std::uintptr_t first = 0; // address
    std::size_t bytes = 0;    // all together
  };
  Unwritten unwritten(std::uintptr_t address, std::size_t bytes);
  // Copies which bytes are initialised. Both ranges exist.
  void copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);
  template <class Visit>
  void for_each(Visit visit) { // page
    for (const auto& [number, page] : pages_) visit(*page);
  }
  // Forgets moments, not states: before the clock starts anew.
  void forget_moments();

 private:
  static constexpr std::size_t kRecent = 1024;

  // Pages of sparse arrays that have no entry: up to page `end`, in state `fill`.
  struct Untouched {
    std::uintptr_t end;
    Time fill;
  };

  Page* find_slowly(std::uintptr_t number);
  // The pages [first, end) lose their entries and are in no range; ranges around them stay.
  void drop(std::uintptr_t first, std::uintptr_t end);

  std::array<Page*, kRecent> recent_{};
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  std::map<std::uintptr_t, Untouched> untouched_; // by the first page
};

} // namespace kg::check
