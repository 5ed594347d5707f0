// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kg::host {

// Stacks for the threads of one block, reused last in, first out, so that warm stacks stay in the
// cache. Belongs to one OS thread.
class StackPool {
 public:
  // Address space per stack, committed on first touch. The lowest page is a guard for the first
  // 16,320 stacks of the process.
  static constexpr std::size_t kSlotBytes = 256 * 1024;

  struct Stack {
    void* bottom;
    std::size_t size;
  };

  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  Stack* take();
  void give_back(Stack* stack) { free_.push_back(stack); }
  bool contains(std::uintptr_t address) const;

 private:
  void grow();

  std::vector<void*> chunks_;
  std::vector<Stack*> stacks_;
  std::vector<Stack*> free_;
  std::size_t guards_ = 0; // number of this pool's protected pages
};

} // namespace kg::host
