// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two rows whose distance no 32 bits hold, for operations that take a row stride. On the host each
// is a buffer of its own, what lies between them belongs to nobody, and the checkers see whoever
// looks there; on a GPU both are ends of one buffer.
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

// So many bytes of addresses that nobody else is given while it lives. They take no memory.
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

template <typename T>
class FarRows {
 public:
  // Poisoned.
  explicit FarRows(std::int64_t cols) : cols_(cols) {
    if constexpr (backend == Backend::cuda) {
      near_ = DeviceBuffer<T>(static_cast<std::size_t>(kLeastStride + cols));
      stride_ = kLeastStride;
      return;
    }
    // malloc takes small blocks from the heap. It maps those above 32 MiB, mostly at the other end
    // of the address space, once the heap has no such block left: what it still has is set aside.
    // Where the heap cannot grow, small blocks are mapped, too. So all addresses that are free near
    // the first row are taken before the second one is mapped, the largest gaps first.
    constexpr std::size_t kMapped = std::size_t{33} << 20, kSmallestGap = std::size_t{32} << 20;
    constexpr std::int64_t kLeast = kLeastStride * static_cast<std::int64_t>(sizeof(T));
    near_ = DeviceBuffer<T>(static_cast<std::size_t>(cols));
    std::deque<Hole> taken;
    for (std::size_t bytes = kLeast; bytes >= kSmallestGap;) {
      const std::int64_t gap = taken.emplace_back(bytes).address() - address(near_);
      if (gap < kLeast && gap + static_cast<std::int64_t>(bytes) > -kLeast) continue;
      taken.pop_back(); // no gap of this size is left near the first row
      bytes /= 2;
    }
    std::vector<DeviceBuffer<T>> set_aside;
    for (int i = 0; i < 16 && stride_ < kLeastStride; ++i) {
      set_aside.push_back(std::move(far_));
      far_ = DeviceBuffer<T>(std::max(kMapped / sizeof(T), static_cast<std::size_t>(cols)));
      stride_ = std::abs(address(far_) - address(near_)) / static_cast<std::int64_t>(sizeof(T));
    }
    if (address(far_) < address(near_)) std::swap(near_, far_);
    require(stride_ >= kLeastStride, "FarRows: the allocator put a buffer of 33 MiB " +
                                         std::to_string(stride_) +
                                         " elements behind a small one; 2^31 at least are needed");
  }

  // Why a test with `arrays` of them is skipped here; "" where it can run.
  static std::string reason_to_skip(int arrays) {
    if constexpr (backend == Backend::host) return "";
    return too_huge_reason(static_cast<std::size_t>(arrays) * kLeastStride * sizeof(T));
  }

  T* data() const { return near_.data(); }
  std::int64_t stride() const { return stride_; }
  MatrixView<T> view() const { return kg::matrix(data(), 2, cols_, stride_); }
  MatrixView<const T> const_view() const { return kg::matrix<const T>(data(), 2, cols_, stride_); }

  // Both rows, one after the other.
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
  std::size_t row_bytes() const { return static_cast<std::size_t>(cols_) * sizeof(T); }

  std::int64_t cols_;
  std::int64_t stride_ = 0;
  DeviceBuffer<T> near_, far_;
};

template <typename T>
FarRows<T> far_rows(const std::vector<T>& rows, Stream& stream) {
  FarRows<T> result(static_cast<std::int64_t>(rows.size() / 2));
  result.put(rows, stream);
  return result;
}

} // namespace kg::test
