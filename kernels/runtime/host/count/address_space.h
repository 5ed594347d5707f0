// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps addresses of the host to the GPU memory that they represent.
#pragma once

#include "runtime/host/count/counts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace kg::count {

class AddressSpace {
 public:
  enum class Kind : unsigned char { global, shared, neither }; // neither: local or constant

  // Ranges do not overlap.
  void add(std::uintptr_t begin, std::size_t bytes, Memory memory);
  void remove(std::uintptr_t begin);

  Kind of(std::uintptr_t address) {
    Page& page = recent_[(address >> kPageBits) % kRecent];
    if (page.number != address >> kPageBits || page.mixed) [[unlikely]]
      return look_up(address, page);
    return page.kind;
  }

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr std::size_t kRecent = 1024;

  struct Range {
    std::uintptr_t end;
    Kind kind;
  };
  struct Page {
    std::uintptr_t number = ~std::uintptr_t{0};
    Kind kind = Kind::neither;
    bool mixed = false; // the page contains several kinds
  };

  Kind look_up(std::uintptr_t address, Page& page) const;
  Kind kind_of(std::uintptr_t address) const;
  bool one_kind(std::uintptr_t begin, std::uintptr_t end) const;

  std::map<std::uintptr_t, Range> ranges_; // by address
  std::array<Page, kRecent> recent_;
};

} // namespace kg::count
