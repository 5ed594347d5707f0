// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocations of device memory, live and recently freed, to describe addresses in messages.
#pragma once

#include "runtime/host/check/shadow.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace kg::host {
struct LaunchContext;
}

namespace kg::check {

// A range of addresses.
struct Span {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool contains(std::uintptr_t address) const { return address - begin < bytes; }
};

class MemoryMap {
 public:
  explicit MemoryMap(Shadow& shadow) : shadow_(shadow) {}

  void add(void* block, std::size_t block_bytes, std::size_t bytes);
  // Withholds the block from reuse for a while; frees the oldest blocks beyond kKeptBytes.
  void release(void* block);

  // "byte 4100 of the 4096-byte buffer that is argument 2, 5 bytes behind its end"; "" if the
  // address is neither in nor near an allocation.
  std::string describe(std::uintptr_t address, const host::LaunchContext* launch) const;

  // The live buffer that overlaps a range of at most a page; empty if there is none. Because of the
  // guards, buffers are more than a page apart.
  Span buffer_in(std::uintptr_t address, std::size_t bytes) const;

  template <class Visit>
  void for_each_live(const Visit& visit) const { // the buffer's span
    for (const auto& [begin, block] : blocks_)
      if (!block.freed) visit(Span{block.data, block.bytes});
  }
  std::size_t live_count() const { return live_; }
  std::string describe_live() const; // "3 allocations, 4096 + 12 + 4 bytes"

 private:
  struct Block {
    std::size_t block_bytes;
    std::uintptr_t data;
    std::size_t bytes;
    bool freed;
  };

  static constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

  Shadow& shadow_;
  std::map<std::uintptr_t, Block> blocks_; // by address
  std::deque<std::uintptr_t> kept_;        // freed, oldest first
  std::size_t kept_bytes_ = 0;
  std::size_t live_ = 0;
};

} // namespace kg::check
