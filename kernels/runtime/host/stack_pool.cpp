// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/stack_pool.h"

#include "runtime/error.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace kg::host {
namespace {

constexpr std::size_t kStacksPerChunk = 64;
constexpr std::size_t kPage = 4096;
// Stacks at equal distances put their hot lines into the same cache sets. Shifting each top by
// three cache lines distributes them; 512 steps of 192 bytes cover the sets of usual L2 caches and
// leave more than half of a slot usable.
constexpr std::size_t kColourBytes = 192;
constexpr std::size_t kColours = 512;
// A guard page splits its chunk, so a guarded stack takes two mappings. Linux grants a process
// 65,530 mappings by default (vm.max_map_count). Half are left to the program. Further stacks have
// no guard, and mmap merges their chunks into one mapping.
constexpr std::size_t kMostGuards = 65530 / 4;
std::atomic<std::size_t> guards{0}; // of all pools of the process

} // namespace

StackPool::~StackPool() {
  for (Stack* stack : stacks_) delete stack;
  for (void* chunk : chunks_) munmap(chunk, kStacksPerChunk * kSlotBytes);
  guards -= guards_;
}

StackPool::Stack* StackPool::take() {
  if (free_.empty()) grow();
  Stack* stack = free_.back();
  free_.pop_back();
  return stack;
}

bool StackPool::contains(std::uintptr_t address) const {
  for (const void* chunk : chunks_)
    if (address - reinterpret_cast<std::uintptr_t>(chunk) < kStacksPerChunk * kSlotBytes)
      return true;
  return false;
}

void StackPool::grow() {
  void* chunk = mmap(nullptr, kStacksPerChunk * kSlotBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (chunk == MAP_FAILED) {
    fail(std::string("no memory for thread stacks (mmap: ") + std::strerror(errno) +
         "); launch smaller blocks or fewer worker threads");
  }
  chunks_.push_back(chunk);
  const bool is_guarded = guards.fetch_add(kStacksPerChunk) + kStacksPerChunk <= kMostGuards;
  if (is_guarded)
    guards_ += kStacksPerChunk;
  else
    guards -= kStacksPerChunk;
  for (std::size_t i = kStacksPerChunk; i-- > 0;) {
    char* slot = static_cast<char*>(chunk) + i * kSlotBytes;
    // If the system grants fewer mappings, only the guard is missing.
    if (is_guarded) (void)mprotect(slot, kPage, PROT_NONE);
    const std::size_t index = stacks_.size() + kStacksPerChunk - 1 - i;
    const std::size_t colour = (index % kColours) * kColourBytes;
    stacks_.push_back(new Stack{slot + kPage, kSlotBytes - kPage - colour});
    free_.push_back(stacks_.back());
  }
}

} // namespace kg::host
