// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device memory without types: allocation between guard bands, copies and fills. DeviceBuffer<T>
// (buffer.h) is what most code uses.
#pragma once

#include "runtime/stream.h"

#include <cstddef>

namespace kg {

// Bytes of guard on each side of an allocation, filled with kGuardByte. A multiple of every
// alignment that kernels rely on.
inline constexpr std::size_t kGuardBytes = 4096;
inline constexpr unsigned char kGuardByte = 0xA5;
// Fresh memory is filled with this byte: it makes NaN of every floating-point type, so an unwritten
// output cannot pass.
inline constexpr unsigned char kPoisonByte = 0xFF;

// One allocation: [guard][bytes][guard], the middle part aligned to 256 bytes and poisoned. bytes
// may be 0.
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

  // Throws Error naming the side and the distance of the first damaged guard byte. Waits for the
  // device.
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
// Fills with kPoisonByte what nobody may read before it is written again.
void poison(void* device, std::size_t bytes, Stream& stream);

// Device memory held by Allocations: now, and the most since the last reset. Bytes, guards
// included.
std::size_t allocated_bytes();
std::size_t peak_allocated_bytes();
void reset_peak_allocated_bytes();

} // namespace kg
