// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two rows too far apart for a 32-bit offset, for operations that take a row stride. On the host
// each row is its own buffer and the memory between them is unallocated, so the checkers report any
// access to it. On a GPU both rows are the ends of one buffer.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/error.h"
#include "runtime/view.h"
#include "tests/support/huge.h"

namespace kg::test {

// Reserves this many bytes of address space while it lives, without using memory.
class Hole {
 public:
  explicit Hole(std::size_t bytes)
      : bytes_(bytes), addresses_(mmap(nullptr, bytes, PROT_NONE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    require(addresses_ != MAP_FAILED, "Hole: no " + std::to_string(bytes) +
                                          " bytes of addresses (" + std::strerror(errno) + ")");
  }
  Hole(const Hole&) = delete;
  Hole& operator=(const Hole&) = delete;
  ~Hole() { munmap(addresses_, bytes_); }

  std::int64_t address() const { return reinterpret_cast<std::int64_t>(addresses_); }

 private:
  std::size_t bytes_;
  void* addresses_;
};

// This many bytes from malloc, never touched; address 0 if malloc fails.
class HeapBlock {
 public:
  explicit HeapBlock(std::size_t bytes) : block_(std::malloc(bytes)) {}
  HeapBlock(const HeapBlock&) = delete;
  HeapBlock& operator=(const HeapBlock&) = delete;
  ~HeapBlock() { std::free(block_); }

  std::int64_t address() const { return reinterpret_cast<std::int64_t>(block_); }

 private:
  void* block_;
};

template <typename T>
class LargeStrideRows {
 public:
  // Both rows are poisoned.
  explicit LargeStrideRows(std::int64_t cols) : cols_(cols) {
    if constexpr (backend == Backend::cuda) {
      near_ = DeviceBuffer<T>(static_cast<std::size_t>(kLeastStride + cols));
      stride_ = kLeastStride;
      return;
    }
    // malloc reuses a free heap block that is large enough, and otherwise maps blocks above 32 MiB.
    // So all free memory near the first row is taken before the second row is allocated, largest
    // gaps first: unmapped addresses, then free heap blocks.
    constexpr std::int64_t kLeast = kLeastStride * static_cast<std::int64_t>(sizeof(T));
    constexpr std::size_t kFar = std::size_t{33} << 20;
    near_ = DeviceBuffer<T>(static_cast<std::size_t>(cols));
    const auto addresses = take_near<Hole>(kLeast);
    const auto memory = take_near<HeapBlock>(kLeast);
    far_ = DeviceBuffer<T>(std::max(kFar / sizeof(T), static_cast<std::size_t>(cols)));
    stride_ = std::abs(address(far_) - address(near_)) / static_cast<std::int64_t>(sizeof(T));
    if (address(far_) < address(near_)) std::swap(near_, far_);
    require(stride_ >= kLeastStride, "LargeStrideRows: the allocator put a buffer of 33 MiB " +
                                         std::to_string(stride_) +
                                         " elements behind a small one; 2^31 at least are needed");
  }

  // Why a test with `arrays` such arrays is skipped here; "" if it can run.
  static std::string reason_to_skip(int arrays) {
    if constexpr (backend == Backend::host) return "";
    return too_huge_reason(static_cast<std::size_t>(arrays) * kLeastStride * sizeof(T));
  }

  T* data() const { return near_.data(); }
  std::int64_t stride() const { return stride_; }
  MatrixView<T> view() const { return kg::matrix(data(), 2, cols_, stride_); }
  MatrixView<const T> const_view() const { return kg::matrix<const T>(data(), 2, cols_, stride_); }

  // Both rows, concatenated.
  void put(const std::vector<T>& rows, Stream& stream) const {
    for (const std::int64_t row : {0, 1})
      copy_to_device(data() + row * stride_, rows.data() + row * cols_, row_bytes(), stream);
  }
  std::vector<T> get(Stream& stream) const {
    std::vector<T> rows(static_cast<std::size_t>(2 * cols_));
    for (const std::int64_t row : {0, 1})
      copy_to_host(rows.data() + row * cols_, data() + row * stride_, row_bytes(), stream);
    return rows;
  }

  void check_guards() const {
    near_.check_guards();
    far_.check_guards();
  }

 private:
  static constexpr std::int64_t kLeastStride = (std::int64_t{1} << 31) + 64; // whole packs

  static std::int64_t address(const DeviceBuffer<T>& buffer) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(buffer.data()));
  }
  // Takes all free blocks that begin or end less than `least` bytes from the first row, until no
  // free block of 32 MiB or more is left there.
  template <typename Block>
  std::deque<Block> take_near(std::int64_t least) const {
    std::deque<Block> taken;
    for (auto bytes = static_cast<std::size_t>(least); bytes >= std::size_t{32} << 20;) {
      const std::int64_t block = taken.emplace_back(bytes).address(), gap = block - address(near_);
      if (block != 0 && gap < least && gap + static_cast<std::int64_t>(bytes) > -least) continue;
      taken.pop_back();
      bytes /= 2;
    }
    return taken;
  }

  std::size_t row_bytes() const { return static_cast<std::size_t>(cols_) * sizeof(T); }

  std::int64_t cols_;
  std::int64_t stride_ = 0;
  DeviceBuffer<T> near_, far_;
};

template <typename T>
LargeStrideRows<T> large_stride_rows(const std::vector<T>& rows, Stream& stream) {
  LargeStrideRows<T> result(static_cast<std::int64_t>(rows.size() / 2));
  result.put(rows, stream);
  return result;
}

} // namespace kg::test
