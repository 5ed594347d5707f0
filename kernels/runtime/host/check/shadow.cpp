// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/shadow.h"

#include "runtime/host/sparse_memory.h"
#include "runtime/memory.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace kg::check {
namespace {

bool is_initialised(Time state) { return state == kHostWrote || state >= kFirstMoment; }

// The largest cells such that the range starts and ends on cell boundaries.
unsigned char shift_for(std::uintptr_t address, std::size_t bytes) {
  return static_cast<unsigned char>(std::min(2, std::countr_zero(address | bytes | 4)));
}

} // namespace

void Page::make_cells() {
  if (has_cells()) return;
  cells = std::make_unique_for_overwrite<Cell[]>(cell_count());
  history = std::make_unique_for_overwrite<History[]>(cell_count());
  std::fill_n(cells.get(), cell_count(), Cell{fill, 0, 0, 0});
}

void Page::make_cells(std::size_t offset, std::size_t bytes) {
  const unsigned misfit = static_cast<unsigned>(offset | bytes) & ((1u << shift) - 1);
  if (misfit != 0) split(static_cast<unsigned char>(std::countr_zero(misfit)));
  make_cells();
}

void Page::drop_cells(Time state) {
  cells = nullptr;
  history = nullptr;
  shift = 2;
  fill = state;
}

void Page::set(std::size_t cell, Time state) {
  cells[cell] = {state, 0, 0, 0};
  history[cell] = {};
}

void Page::split(unsigned char finer) {
  if (finer >= shift) return;
  const unsigned by = shift - finer;
  shift = finer;
  if (!has_cells()) return;
  const auto old_cells = std::move(cells);
  const auto old_history = std::move(history);
  make_cells();
  for (std::size_t i = 0; i < cell_count(); ++i) {
    cells[i] = old_cells[i >> by];
    history[i] = old_history[i >> by];
  }
}

Page* Shadow::find_slowly(std::uintptr_t number) {
  const auto found = pages_.find(number);
  if (found != pages_.end()) return recent_[number % kRecent] = found->second.get();
  const auto next = untouched_.upper_bound(number);
  if (next == untouched_.begin() || std::prev(next)->second.end <= number) return nullptr;
  auto& page = pages_[number] = std::make_unique<Page>();
  page->number = number;
  page->space = Space::global;
  page->fill = std::prev(next)->second.fill;
  return recent_[number % kRecent] = page.get();
}

void Shadow::drop(std::uintptr_t first, std::uintptr_t end) {
  recent_.fill(nullptr);
  std::erase_if(pages_, [&](const auto& page) { return first <= page.first && page.first < end; });
  for (auto range = untouched_.begin(); range != untouched_.end() && range->first < end;) {
    const auto [begin, rest] = *range;
    if (rest.end <= first) {
      ++range;
      continue;
    }
    range = untouched_.erase(range);
    if (begin < first) untouched_[begin] = {first, rest.fill};
    if (end < rest.end) untouched_[end] = rest;
  }
}

void Shadow::add(std::uintptr_t address, std::size_t bytes, Space space, Time fill) {
  if (bytes == 0) return;
  const std::uintptr_t last = (address + bytes - 1) >> kPageBits;
  if (bytes >= host::kSparseBytes) {
    drop(address >> kPageBits, last + 1);
    untouched_[address >> kPageBits] = {last + 1, fill};
    return;
  }
  for (std::uintptr_t number = address >> kPageBits; number <= last; ++number) {
    auto& page = pages_[number];
    if (page && page->space != Space::local) continue;
    if (!page) page = std::make_unique<Page>();
    page->number = number;
    page->space = space;
    page->fill = fill;
  }
}

void Shadow::remove(std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t end = (address + bytes) >> kPageBits;
  if (bytes >= host::kSparseBytes) return drop((address + kPageBytes - 1) >> kPageBits, end);
  for (std::uintptr_t number = (address + kPageBytes - 1) >> kPageBits; number < end; ++number) {
    recent_[number % kRecent] = nullptr;
    pages_.erase(number);
  }
}

void Shadow::mark(std::uintptr_t address, std::size_t bytes, Time state) {
  if (bytes >= host::kSparseBytes && find(address)) {
    const std::uintptr_t first = (address + kPageBytes - 1) >> kPageBits;
    const std::uintptr_t last = (address + bytes) >> kPageBits;
    drop(first, last);
    untouched_[first] = {last, state};
    mark(address, (first << kPageBits) - address, state);
    return mark(last << kPageBits, address + bytes - (last << kPageBits), state);
  }
  while (bytes > 0) {
    const std::size_t offset = address % kPageBytes;
    const std::size_t part = std::min(bytes, kPageBytes - offset);
    if (Page* const page = find(address)) {
      if (part == kPageBytes) {
        page->drop_cells(state);
      } else {
        page->split(shift_for(address, part));
        page->make_cells();
        for (std::size_t at = offset; at < offset + part; at += std::size_t{1} << page->shift)
          page->set(page->cell_of(at), state);
      }
    }
    address += part;
    bytes -= part;
  }
}

Time Shadow::state(std::uintptr_t address) {
  Page* const page = find(address);
  return page->has_cells() ? page->cells[page->cell_of(address % kPageBytes)].written : page->fill;
}

bool Shadow::written_by(Time latest, std::uintptr_t address, std::size_t bytes) {
  const auto by_then = [latest](Time state) { return is_initialised(state) && state <= latest; };
  while (bytes > 0) {
    const std::size_t offset = address % kPageBytes;
    const std::size_t part = std::min(bytes, kPageBytes - offset);
    const Page* const page = find(address);
    if (!page->has_cells()) {
      if (!by_then(page->fill)) return false;
    } else {
      const Cell* const first = &page->cells[page->cell_of(offset)];
      const Cell* const end = &page->cells[page->cell_of(offset + part - 1)] + 1;
      if (!std::all_of(first, end, [&by_then](const Cell& cell) { return by_then(cell.written); }))
        return false;
    }
    address += part;
    bytes -= part;
  }
  return true;
}

// A gap of less than 8 bytes is padding of a structure. A byte that differs from the poison was
// written by a function without instrumentation.
Shadow::Unwritten Shadow::unwritten(std::uintptr_t address, std::size_t bytes) {
  constexpr std::size_t kPadding = 8;
  Unwritten all;
  std::size_t gap = 0; // ending at `at`
  const auto close = [&](std::uintptr_t at) {
    if (gap >= std::min(kPadding, bytes)) {
      if (all.bytes == 0) all.first = at - gap;
      all.bytes += gap;
    }
    gap = 0;
  };
  for_each_state(address, bytes, [&](std::uintptr_t at, std::uintptr_t end, Time state) {
    for (; at < end && state == kUninitialised; ++at)
      if (*reinterpret_cast<const unsigned char*>(at) == kPoisonByte)
        ++gap;
      else
        close(at);
    if (state != kUninitialised) close(at);
  });
  close(address + bytes);
  return all;
}

void Shadow::copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  const auto initialised = [this](std::uintptr_t at) { return is_initialised(state(at)); };
  for (std::size_t i = 0; i < bytes;) { // in runs of equal state
    const bool first = initialised(from + i);
    std::size_t end = i + 1;
    while (end < bytes && initialised(from + end) == first) ++end;
    mark(to + i, end - i, first ? kHostWrote : kUninitialised);
    i = end;
  }
}

void Shadow::forget_moments() {
  for (auto& [number, page] : pages_) {
    page->judged_in = 0;
    if (!page->has_cells()) continue;
    for (std::size_t i = 0; i < page->cell_count(); ++i)
      page->set(i, std::min<Time>(page->cells[i].written, kHostWrote));
  }
}

} // namespace kg::check
