// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/scratch.h"

#include "runtime/memory.h"

#include <algorithm>
#include <map>
#include <vector>

namespace kg::vendor {

void* scratch(std::size_t bytes, Stream& stream) {
  constexpr std::size_t kSmallest = std::size_t{1} << 20;
  thread_local std::map<void*, std::vector<Allocation>> by_stream;
  std::vector<Allocation>& blocks = by_stream[stream.handle()];
  if (blocks.empty() || blocks.back().bytes() < bytes) {
    const std::size_t doubled = blocks.empty() ? kSmallest : 2 * blocks.back().bytes();
    blocks.emplace_back(std::max(bytes, doubled));
  }
  return blocks.back().data();
}

} // namespace kg::vendor
