// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/count/address_space.h"

#include <iterator>

namespace kg::count {

void AddressSpace::add(std::uintptr_t begin, std::size_t bytes, Memory memory) {
  if (bytes == 0) return;
  ranges_[begin] = {begin + bytes, memory == Memory::global ? Kind::global : Kind::shared};
  recent_.fill({});
}

void AddressSpace::remove(std::uintptr_t begin) {
  ranges_.erase(begin);
  recent_.fill({});
}

AddressSpace::Kind AddressSpace::look_up(std::uintptr_t address, Page& page) const {
  const std::uintptr_t number = address >> kPageBits;
  const Kind kind = kind_of(address);
  if (page.number != number)
    page = {number, kind, !one_kind(number << kPageBits, (number + 1) << kPageBits)};
  return kind;
}

AddressSpace::Kind AddressSpace::kind_of(std::uintptr_t address) const {
  const auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin() || std::prev(next)->second.end <= address) return Kind::neither;
  return std::prev(next)->second.kind;
}

// Whether no range begins or ends within [begin, end).
bool AddressSpace::one_kind(std::uintptr_t begin, std::uintptr_t end) const {
  const auto next = ranges_.upper_bound(begin);
  if (next != ranges_.end() && next->first < end) return false;
  if (next == ranges_.begin()) return true;
  const std::uintptr_t last = std::prev(next)->second.end;
  return last <= begin || last >= end;
}

} // namespace kg::count
