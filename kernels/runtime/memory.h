// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Untyped device memory: allocation between guard bands, copies and fills. Most code uses
// DeviceBuffer<T> (buffer.h).
#pragma once

#include "runtime/stream.h"

#include <cstddef>

namespace kg {

// Bytes of guard on each side of an allocation, filled with kGuardByte. A multiple of every
// alignment that kernels rely on.
inline constexpr std::size_t kGuardBytes = 4096;
inline constexpr unsigned char kGuardByte = 0xA5;
// Fresh memory is filled with this byte, which makes every floating-point type NaN, so an unwritten
// output cannot pass.
inline constexpr unsigned char kPoisonByte = 0xFF;

// One allocation: [guard][bytes][guard], the middle part aligned to 256 bytes and poisoned. May
// have 0 bytes.
class Allocation {
 public:
  Allocation() = default;
  explicit Allocation(std::size_t bytes);
  ~Allocation();
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  Allocation(Allocation&& other) noexcept;
  Allocation& operator=(Allocation&& other) noexcept;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  // Throws Error that names the side and the distance of the first damaged guard byte. Waits for
  // the device.
  void check_guards() const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Enqueue on `stream`; host memory may be reused when the call returns. Device pointers may point
// anywhere into an allocation.
void copy_to_device(void* device, const void* host, std::size_t bytes, Stream& stream);
void copy_to_host(void* host, const void* device, std::size_t bytes,
                  Stream& stream); // waits for the copy
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream& stream);
void fill_bytes(void* device, unsigned char value, std::size_t bytes, Stream& stream);
// Fills memory with kPoisonByte; nothing may read it before it is written again.
void poison(void* device, std::size_t bytes, Stream& stream);

// Bytes held by Allocations, guards included: current, and peak since the last reset.
std::size_t allocated_bytes();
std::size_t peak_allocated_bytes();
void reset_peak_allocated_bytes();

} // namespace kg
