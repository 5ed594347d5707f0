// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include "runtime/cuda/native.h"
#include "runtime/cuda/status.h"
#include "runtime/environment.h"
#include "runtime/error.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kg {
namespace {

std::atomic<std::size_t> allocated{0};
std::atomic<std::size_t> peak{0};

void count_allocation(std::size_t bytes) {
  const std::size_t now = allocated.fetch_add(bytes) + bytes;
  std::size_t highest = peak.load();
  while (highest < now && !peak.compare_exchange_weak(highest, now)) {
  }
}

// KERNELGRADE_UNGUARDED=1, for compute-sanitizer. Guards would be inside the allocation whose
// bounds memcheck checks, and poison would make all memory initialized for initcheck. Read once,
// because an allocation must be freed in the mode in which it was made.
bool unguarded() {
  static const bool value = is_set("KERNELGRADE_UNGUARDED");
  return value;
}

std::size_t guard_bytes() { return unguarded() ? 0 : kGuardBytes; }

// The size of an allocation with its guards; never 0, for which cudaMalloc would return null.
std::size_t total_bytes(std::size_t bytes) {
  return std::max<std::size_t>(bytes + 2 * guard_bytes(), 1);
}

struct DeviceFree {
  void operator()(unsigned char* base) const noexcept {
    cuda::check_release(cudaFree(base), "cudaFree");
  }
};
using DeviceBytes = std::unique_ptr<unsigned char, DeviceFree>;

DeviceBytes device_malloc(std::size_t total, std::size_t asked) {
  void* base = nullptr;
  const Status status = describe(cudaMalloc(&base, total));
  if (!status.ok) {
    std::size_t free = 0;
    std::size_t all = 0;
    const bool known = describe(cudaMemGetInfo(&free, &all)).ok;
    fail(fmt::format(
        "Allocation: cudaMalloc of {} bytes ({} asked for, {} of guards) failed: {}; {} bytes of "
        "device memory are free, {} are held by this process's Allocations",
        total, asked, total - asked, status.text, known ? std::to_string(free) : "unknown",
        allocated.load()));
  }
  return DeviceBytes(static_cast<unsigned char*>(base));
}

void release(void* data, std::size_t bytes) {
  if (!data) return;
  DeviceFree()(static_cast<unsigned char*>(data) - guard_bytes());
  allocated.fetch_sub(total_bytes(bytes));
}

// Transfers up to this size take as long as an empty one: read both guards of a small allocation in
// one call.
constexpr std::size_t kSmall = std::size_t{1} << 16;

std::vector<unsigned char> read_bytes(const unsigned char* device, std::size_t bytes) {
  std::vector<unsigned char> read(bytes);
  KG_CHECK(cudaMemcpy(read.data(), device, bytes, cudaMemcpyDeviceToHost));
  return read;
}

using Guard = std::span<const unsigned char>;

bool is_damaged(unsigned char byte) { return byte != kGuardByte; }

std::ptrdiff_t count_damage(Guard guard) {
  return std::count_if(guard.begin(), guard.end(), is_damaged);
}

} // namespace

// The fills are asynchronous, and other streams do not wait for the default stream. Without the
// synchronization, the poison could overwrite a kernel's output.
Allocation::Allocation(std::size_t bytes) {
  require(bytes <= std::numeric_limits<std::size_t>::max() - 2 * kGuardBytes,
          fmt::format("Allocation: {} bytes and two guards exceed the address space", bytes));
  const std::size_t total = total_bytes(bytes);
  DeviceBytes base = device_malloc(total, bytes);
  unsigned char* data = base.get() + guard_bytes();
  if (!unguarded()) {
    if (bytes <= kSmall) {
      KG_CHECK(cudaMemsetAsync(base.get(), kGuardByte, total, nullptr));
    } else {
      KG_CHECK(cudaMemsetAsync(base.get(), kGuardByte, kGuardBytes, nullptr));
      KG_CHECK(cudaMemsetAsync(data + bytes, kGuardByte, kGuardBytes, nullptr));
    }
    if (bytes > 0) KG_CHECK(cudaMemsetAsync(data, kPoisonByte, bytes, nullptr));
    KG_CHECK(cudaStreamSynchronize(nullptr));
  }
  count_allocation(total);
  base.release();
  data_ = data;
  bytes_ = bytes;
}

Allocation::~Allocation() { release(data_, bytes_); }

Allocation::Allocation(Allocation&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Allocation& Allocation::operator=(Allocation&& other) noexcept {
  if (this != &other) {
    release(data_, bytes_);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void Allocation::check_guards() const {
  if (!data_) return;
  KG_CHECK(cudaDeviceSynchronize());
  if (unguarded()) return; // the sanitizer checks instead
  const auto* data = static_cast<const unsigned char*>(data_);

  std::vector<unsigned char> bytes =
      read_bytes(data - kGuardBytes, bytes_ <= kSmall ? bytes_ + 2 * kGuardBytes : kGuardBytes);
  const Guard before(bytes.data(), kGuardBytes);
  const auto last = std::find_if(before.rbegin(), before.rend(), is_damaged);
  if (last != before.rend())
    fail(fmt::format("out-of-bounds write: byte {} before a device buffer of {} bytes was changed; "
                     "{} bytes of that guard in all",
                     last - before.rbegin() + 1, bytes_, count_damage(before)));

  if (bytes_ > kSmall) bytes = read_bytes(data + bytes_, kGuardBytes);
  const Guard after = Guard(bytes).last(kGuardBytes);
  const auto first = std::find_if(after.begin(), after.end(), is_damaged);
  if (first != after.end())
    fail(fmt::format("out-of-bounds write: byte {} behind a device buffer of {} bytes was changed; "
                     "{} bytes of that guard in all",
                     first - after.begin() + 1, bytes_, count_damage(after)));
}

namespace {

// A captured copy would access the host's memory at every replay, long after the caller has reused
// it.
void refuse_in_capture(const char* function, Stream& stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  KG_CHECK(cudaStreamIsCapturing(cuda::native(stream), &capture));
  require(capture == cudaStreamCaptureStatusNone,
          std::string(function) + ": the stream is being captured, and a copy from or to the host "
                                  "cannot be replayed; copy before or after the capture");
}

} // namespace

// Waits for the copy: whether an asynchronous copy has read the host's memory on return depends on
// the kind of memory (pinned, pageable, shared page tables).
void copy_to_device(void* device, const void* host, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  refuse_in_capture("copy_to_device", stream);
  KG_CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, cuda::native(stream)));
  KG_CHECK(cudaStreamSynchronize(cuda::native(stream)));
}

void copy_to_host(void* host, const void* device, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  refuse_in_capture("copy_to_host", stream);
  KG_CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, cuda::native(stream)));
  KG_CHECK(cudaStreamSynchronize(cuda::native(stream)));
}

void copy_on_device(void* to, const void* from, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  KG_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda::native(stream)));
}

void fill_bytes(void* device, unsigned char value, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return;
  KG_CHECK(cudaMemsetAsync(device, value, bytes, cuda::native(stream)));
}

void poison(void* device, std::size_t bytes, Stream& stream) {
  if (!unguarded()) fill_bytes(device, kPoisonByte, bytes, stream);
}

std::size_t allocated_bytes() { return allocated.load(); }
std::size_t peak_allocated_bytes() { return peak.load(); }
void reset_peak_allocated_bytes() { peak.store(allocated.load()); }

} // namespace kg
