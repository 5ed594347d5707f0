// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/memory_map.h"

#include "runtime/host/block.h"
#include "runtime/host/sparse_memory.h"
#include "runtime/memory.h"

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <vector>

namespace kg::check {
namespace {

// The number (from 1) of the launch argument that points into [begin, end), or 0. Pointers may also
// be members of structures passed by value.
unsigned argument_pointing_into(const host::LaunchContext& launch, std::uintptr_t begin,
                                std::uintptr_t end) {
  for (unsigned i = 0; i < launch.argument_sizes.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(launch.arguments[i]);
    for (std::size_t at = 0; at + sizeof(begin) <= launch.argument_sizes[i]; at += sizeof(begin)) {
      std::uintptr_t value;
      std::memcpy(&value, bytes + at, sizeof(value));
      if (begin <= value && value < end) return i + 1;
    }
  }
  return 0;
}

} // namespace

void MemoryMap::add(void* block, std::size_t block_bytes, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  blocks_[begin] = {block_bytes, begin + kGuardBytes, bytes, false};
  ++live_;
  shadow_.add(begin, block_bytes, Space::global, kGuard);
  shadow_.mark(begin, block_bytes, kGuard);
  shadow_.mark(begin + kGuardBytes, bytes, kUninitialised);
}

void MemoryMap::release(void* block) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  Block& freed = blocks_.at(begin);
  freed.freed = true;
  --live_;
  shadow_.mark(begin + kGuardBytes, freed.bytes, kFreed);
  kept_.push_back(begin);
  kept_bytes_ += freed.block_bytes;
  while (kept_bytes_ > kKeptBytes) {
    const auto oldest = blocks_.find(kept_.front());
    kept_.pop_front();
    kept_bytes_ -= oldest->second.block_bytes;
    shadow_.mark(oldest->first, oldest->second.block_bytes, kGuard);
    shadow_.remove(oldest->first, oldest->second.block_bytes);
    host::free_block(reinterpret_cast<void*>(oldest->first));
    blocks_.erase(oldest);
  }
}

std::string MemoryMap::describe(std::uintptr_t address, const host::LaunchContext* launch) const {
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return "";
  const auto& [begin, block] = *--next;
  if (address >= begin + block.block_bytes) return "";
  const std::uintptr_t end = block.data + std::max<std::size_t>(block.bytes, 1);
  const unsigned argument = launch ? argument_pointing_into(*launch, block.data, end) : 0;
  const std::string name =
      fmt::format("a {}buffer of {} bytes{}", block.freed ? "freed " : "", block.bytes,
                  argument ? fmt::format(" (argument {})", argument) : "");
  if (address < block.data) return fmt::format("{} bytes before {}", block.data - address, name);
  if (address >= block.data + block.bytes) {
    const std::size_t behind = address - block.data - block.bytes;
    return behind == 0 ? "just behind the end of " + name
                       : fmt::format("{} bytes behind the end of {}", behind, name);
  }
  return fmt::format("byte {} of {}", address - block.data, name);
}

Span MemoryMap::buffer_in(std::uintptr_t address, std::size_t bytes) const {
  static_assert(kGuardBytes >= kPageBytes);
  const auto next = blocks_.lower_bound(address + bytes);
  if (next == blocks_.begin()) return {};
  const Block& block = std::prev(next)->second;
  const bool meets = block.data < address + bytes && address < block.data + block.bytes;
  return meets && !block.freed ? Span{block.data, block.bytes} : Span{};
}

std::string MemoryMap::describe_live() const {
  std::vector<std::size_t> sizes;
  for (const auto& [begin, block] : blocks_)
    if (!block.freed) sizes.push_back(block.bytes);
  return fmt::format("{} never freed, of {} bytes",
                     live_ == 1 ? "1 allocation was" : fmt::format("{} allocations were", live_),
                     fmt::join(sizes, ", "));
}

} // namespace kg::check
