// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include "runtime/error.h"
#include "runtime/host/device_memory.h"
#include "runtime/host/observer.h"
#include "runtime/host/queue.h"
#include "runtime/host/sparse_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace kg {
namespace {

constexpr std::size_t kAlignment = 256; // cudaMalloc guarantees at least this
constexpr std::size_t kPage = 4096;     // with an observer, allocations must not share pages

std::atomic<std::size_t> allocated = 0;
std::atomic<std::size_t> peak = 0;

struct Live {
  std::mutex mutex;
  std::map<const void*, std::size_t> bytes; // of all Allocations, by data pointer
};
Live& live() {
  static Live* const instance = new Live; // never destroyed: Allocations may outlive static objects
  return *instance;
}

std::size_t alignment() { return host::observer ? kPage : kAlignment; }
std::size_t block_bytes(std::size_t bytes) {
  const std::size_t unit = alignment();
  return kGuardBytes + (bytes + unit - 1) / unit * unit + kGuardBytes;
}

void* new_block(std::size_t bytes) {
  if (bytes > host::kMostSparseBytes) return nullptr;
  if (bytes >= host::kSparseBytes) return host::map_sparse(block_bytes(bytes), kPoisonByte);
  void* const block = std::aligned_alloc(alignment(), block_bytes(bytes));
  if (block) std::memset(static_cast<unsigned char*>(block) + kGuardBytes, kPoisonByte, bytes);
  return block;
}

void fill(void* device, unsigned char value, std::size_t bytes) {
  if (bytes < host::kSparseBytes || !host::fill_sparse(device, value, bytes))
    std::memset(device, value, bytes);
}

void run_or_record(Stream& stream, host::Queue::Task task) {
  host::queue_of(stream).run(std::move(task));
}

} // namespace

std::vector<std::size_t> host::sparse_allocations() {
  std::lock_guard lock(live().mutex);
  std::vector<std::size_t> sizes;
  for (const auto& [data, bytes] : live().bytes)
    if (bytes >= kSparseBytes) sizes.push_back(bytes);
  return sizes;
}

Allocation::Allocation(std::size_t bytes) : bytes_(bytes) {
  require(bytes < std::numeric_limits<std::size_t>::max() / 2,
          "Allocation: " + std::to_string(bytes) + " bytes is not a size; an extent was negative");
  auto* block = static_cast<unsigned char*>(new_block(bytes));
  require(block != nullptr, "out of memory: " + std::to_string(bytes) + " bytes asked, " +
                                std::to_string(allocated.load()) + " bytes held");
  std::memset(block, kGuardByte, kGuardBytes);
  std::memset(block + kGuardBytes + bytes, kGuardByte, block_bytes(bytes) - kGuardBytes - bytes);
  data_ = block + kGuardBytes;
  if (host::observer) host::observer->allocated(block, block_bytes(bytes), bytes);
  {
    std::lock_guard lock(live().mutex);
    live().bytes[data_] = bytes;
  }
  const std::size_t now = allocated += block_bytes(bytes);
  std::size_t before = peak;
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
}

Allocation::~Allocation() {
  if (!data_) return;
  {
    std::lock_guard lock(live().mutex);
    live().bytes.erase(data_);
  }
  void* const block = static_cast<unsigned char*>(data_) - kGuardBytes;
  if (!host::observer || !host::observer->freed(block)) host::free_block(block);
  allocated -= block_bytes(bytes_);
}

Allocation::Allocation(Allocation&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Allocation& Allocation::operator=(Allocation&& other) noexcept {
  Allocation taken(std::move(other)); // frees the previous memory
  std::swap(data_, taken.data_);
  std::swap(bytes_, taken.bytes_);
  return *this;
}

// Every test checks some thousand bytes per buffer, so a message is formatted only for damage.
void Allocation::check_guards() const {
  if (!data_) return;
  const auto require_intact = [this](auto guard, std::size_t bytes, const char* side) {
    const auto end = guard + static_cast<std::ptrdiff_t>(bytes);
    const auto damaged =
        std::find_if(guard, end, [](unsigned char byte) { return byte != kGuardByte; });
    if (damaged != end)
      fail("out-of-bounds write: byte " + std::to_string(damaged - guard + 1) + " " + side +
           " a device buffer of " + std::to_string(bytes_) + " bytes was changed");
  };
  const auto* data = static_cast<const unsigned char*>(data_);
  require_intact(std::make_reverse_iterator(data), kGuardBytes, "before"); // away from the buffer
  require_intact(data + bytes_, block_bytes(bytes_) - kGuardBytes - bytes_, "behind");
}

void copy_to_device(void* device, const void* host, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  require(
      !host::queue_of(stream).capturing(),
      "copy_to_device cannot be captured in a graph: host memory may be reused when it returns");
  std::memcpy(device, host, bytes);
  if (host::observer) host::observer->written(device, bytes);
}

void copy_to_host(void* host, const void* device, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  require(!host::queue_of(stream).capturing(),
          "copy_to_host cannot be captured in a graph: it waits for the copy");
  std::memcpy(host, device, bytes);
}

void copy_on_device(void* to, const void* from, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  run_or_record(stream, [=] {
    std::memmove(to, from, bytes);
    if (host::observer) host::observer->copied(to, from, bytes);
  });
}

void fill_bytes(void* device, unsigned char value, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  run_or_record(stream, [=] {
    fill(device, value, bytes);
    if (host::observer) host::observer->written(device, bytes);
  });
}

void poison(void* device, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  run_or_record(stream, [=] {
    fill(device, kPoisonByte, bytes);
    if (host::observer) host::observer->poisoned(device, bytes);
  });
}

// Processes whole words, mixed as in MurmurHash64A (A. Appleby).
std::uint64_t host::device_memory_hash() {
  std::lock_guard lock(live().mutex);
  std::uint64_t hash = 1;
  for (const auto& [data, bytes] : live().bytes) {
    const auto* const at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; i += sizeof hash) {
      std::uint64_t word = 0;
      std::memcpy(&word, at + i, std::min(sizeof word, bytes - i));
      hash = (hash ^ word) * 0xC6A4A7935BD1E995ULL;
      hash ^= hash >> 47;
    }
  }
  return hash | 1;
}

std::size_t allocated_bytes() { return allocated; }
std::size_t peak_allocated_bytes() { return peak; }
void reset_peak_allocated_bytes() { peak = allocated.load(); }

} // namespace kg
