// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The access history of all memory that kernels can reach, in pages of 4 KiB: one Cell per four
// bytes, or finer in pages with smaller accesses. Pages untouched by kernels have no cells; in a
// sparse array (runtime/host/sparse_memory.h) they have no entry either. The data that settles
// almost every access is stored apart from the rest.
#pragma once

#include "runtime/host/check/access.h"

#include <algorithm>
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
// reads at that moment add nothing. Or kReadEnough plus the number of the launch in which further
// reads add nothing at all. 0: not since the last write.
using Reads = std::uint32_t;
inline constexpr Reads kReading = 2 * kInFlight; // being read by a bulk copy, until waited for
inline constexpr Reads kReadEnough = 0x80000000;

// The last write of a cell and the time of its reads: all that most accesses need, in 16 bytes.
struct Cell {
  Time written;
  Reads reads;
  Who writer;
  Site write_site;

  bool operator==(const Cell&) const = default;
};

// Two further accesses that may conflict with later ones: reads, or atomic writes not ordered
// before the last write. Two readers of different warps suffice: any later writer differs from one
// of them.
struct History { // undefined where Cell::reads is 0
  Access others[2];

  bool operator==(const History&) const = default;
};

struct Page {
  std::uintptr_t number = 0; // address >> kPageBits
  Space space = Space::local;
  unsigned char shift = 2;  // log2 of the bytes per cell
  Time fill = kNotShadowed; // state of all cells if `cells` is null
  Time judged_in = 0;       // the launch, by its start, in which all accesses are checked at once
  bool was_read = false;    // by a kernel, or by a copy
  std::unique_ptr<Cell[]> cells;
  std::unique_ptr<History[]> history;

  bool has_cells() const { return cells != nullptr; }
  std::size_t cell_count() const { return kPageBytes >> shift; }
  std::size_t cell_of(std::size_t offset) const { return offset >> shift; }
  std::uintptr_t address_of(std::size_t cell) const {
    return (number << kPageBits) + (cell << shift);
  }
  void make_cells();
  void make_cells(std::size_t offset, std::size_t bytes); // that start and end with ranges
  void drop_cells(Time state);
  void set(std::size_t cell, Time state); // clears its accesses
  void split(unsigned char shift);        // into cells of 1 << shift bytes
};

class Shadow {
 public:
  // The page of an address; null if no part of it was ever added.
  Page* find(std::uintptr_t address) {
    Page* const page = recent(address);
    return page ? page : find_slowly(address >> kPageBits);
  }
  // The same, but only if the page was found recently.
  Page* recent(std::uintptr_t address) {
    const std::uintptr_t number = address >> kPageBits;
    Page* const page = recent_[number % kRecent];
    return page && page->number == number ? page : nullptr;
  }

  // Adds the missing or local pages of a range, in state `fill`.
  void add(std::uintptr_t address, std::size_t bytes, Space space, Time fill);
  // Removes every page that lies wholly within a range.
  void remove(std::uintptr_t address, std::size_t bytes);
  // Sets the state of every byte of a range; its pages must exist.
  void mark(std::uintptr_t address, std::size_t bytes, Time state);
  // The state of one byte: a value below kFirstMoment, or a moment. Its page must exist.
  Time state(std::uintptr_t address);
  // Whether the host or `latest` last wrote every byte of a range; its pages must exist.
  bool written_by(Time latest, std::uintptr_t address, std::size_t bytes);
  // The unwritten part of a range; 0 bytes if all of it is written.
  struct Unwritten {
    std::uintptr_t first = 0; // address
    std::size_t bytes = 0;    // total
  };
  Unwritten unwritten(std::uintptr_t address, std::size_t bytes);
  // visit(begin, end, state) for consecutive parts of a range. Unknown pages count as
  // written by the host.
  template <class Visit>
  void for_each_state(std::uintptr_t address, std::size_t bytes, const Visit& visit) {
    const std::uintptr_t end = address + bytes;
    while (address < end) {
      Page* const page = find(address);
      const unsigned shift = page && page->has_cells() ? page->shift : kPageBits;
      const std::uintptr_t next = std::min(((address >> shift) + 1) << shift, end);
      visit(address, next, page ? state(address) : Time{kHostWrote});
      address = next;
    }
  }
  // Copies the initialization state of the bytes. The pages of both ranges must exist.
  void copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);
  template <class Visit>
  void for_each(Visit visit) { // page
    for (const auto& [number, page] : pages_) visit(*page);
  }
  // Clears moments but keeps states; called before the clock restarts.
  void forget_moments();

 private:
  static constexpr std::size_t kRecent = 1024;

  // Pages of sparse arrays without an entry: up to page `end`, in state `fill`.
  struct Untouched {
    std::uintptr_t end;
    Time fill;
  };

  Page* find_slowly(std::uintptr_t number);
  // Removes the pages [first, end) from entries and ranges; the surrounding ranges remain.
  void drop(std::uintptr_t first, std::uintptr_t end);

  std::array<Page*, kRecent> recent_{};
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  std::map<std::uintptr_t, Untouched> untouched_; // by first page
};

} // namespace kg::check
