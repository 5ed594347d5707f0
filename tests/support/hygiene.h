// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel must not change: its inputs (hashed before and after) and the gaps of strided
// outputs (poisoned before, still poisoned afterwards). Poison has every bit set: NaN in all float
// formats, -1 in integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/strided.h"
#include "tests/support/ledger.h"

namespace kg::test {

// FNV-1a, 64 bits (Fowler, Noll, Vo); offset basis and prime from draft-eastlake-fnv. Each step is
// a bijection of the state, so buffers that differ in one byte never share a hash.
inline std::uint64_t fnv1a64(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const std::byte byte : bytes) {
    hash ^= static_cast<std::uint64_t>(byte);
    hash *= 0x00000100000001B3;
  }
  return hash;
}
template <typename T>
std::uint64_t fnv1a64(const std::vector<T>& elements) {
  return fnv1a64(std::as_bytes(std::span<const T>(elements)));
}

// Remembers the inputs of a case, to compare them with device memory after the kernel ran.
class InputGuard {
 public:
  template <typename T>
  void watch(std::string name, const std::vector<T>& before) {
    watched_.push_back({std::move(name), fnv1a64(before)});
  }

  // `after` is the input `name` read back; a failure names it. An unwatched input is a failure.
  template <typename T>
  testing::AssertionResult unchanged(const std::string& name, const std::vector<T>& after) const {
    for (const Watched& input : watched_) {
      if (input.name != name) continue;
      if (input.hash == fnv1a64(after)) return testing::AssertionSuccess();
      return testing::AssertionFailure() << "the kernel changed its input " << name;
    }
    return testing::AssertionFailure() << "input " << name << " was not watched before the kernel";
  }

 private:
  struct Watched {
    std::string name;
    std::uint64_t hash;
  };
  std::vector<Watched> watched_;
};

template <typename T>
std::vector<T> poisoned(std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(count),
                        from_raw_bits<T>(poison_bits(DtypeOf<T>::value)));
}

template <typename T>
bool is_poison(const T& element) {
  return raw_bits(element) == poison_bits(DtypeOf<T>::value);
}

// An input in device memory: the elements of `view` of `stored`, poison elsewhere. The poison is
// never written, so the checkers report a kernel that reads it even if the result does not change.
template <typename T>
DeviceBuffer<T> device_input(const std::vector<T>& stored, const Strided& view, Stream& stream) {
  DeviceBuffer<T> device(stored.size());
  // Sorted from the widest stride to the narrowest; innermost axes without gaps form one run.
  std::vector<std::pair<std::int64_t, std::int64_t>> axes; // strides and extents
  for (std::size_t d = 0; d < view.shape.size(); ++d)
    if (view.shape[d] != 1 && view.strides[d] != 0)
      axes.emplace_back(view.strides[d], view.shape[d]);
  std::sort(axes.rbegin(), axes.rend());
  std::int64_t run = view.size() == 0 ? 0 : 1;
  for (; run > 0 && !axes.empty() && axes.back().first == run; axes.pop_back())
    run *= axes.back().second;
  Strided starts{{}, {}, view.offset};
  for (const auto& [stride, extent] : axes) {
    starts.strides.push_back(stride);
    starts.shape.push_back(extent);
  }
  for (std::int64_t i = 0; run > 0 && i < starts.size(); ++i) {
    const std::int64_t first = starts.place(i);
    copy_to_device(device.data() + first, stored.data() + first,
                   static_cast<std::size_t>(run) * sizeof(T), stream);
  }
  return device;
}
// The same for a tensor that takes all elements after `offset`.
template <typename T>
DeviceBuffer<T> device_input(const std::vector<T>& stored, std::int64_t offset, Stream& stream) {
  const auto size = static_cast<std::int64_t>(stored.size());
  return device_input(stored, contiguous({size - offset}, offset), stream);
}

// Every element of the storage outside `view` is still poison.
template <typename T>
testing::AssertionResult gaps_intact(const std::vector<T>& storage, const Strided& view) {
  std::vector<char> in_view(storage.size(), 0);
  const std::int64_t size = view.size();
  for (std::int64_t i = 0; i < size; ++i) in_view.at(static_cast<std::size_t>(view.place(i))) = 1;
  std::int64_t touched = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < storage.size(); ++i) {
    if (in_view[i] != 0 || is_poison(storage[i])) continue;
    if (touched++ == 0) first = i;
  }
  if (touched == 0) return testing::AssertionSuccess();
  // An AssertionResult formats each piece separately, so std::hex needs its own stream.
  std::ostringstream bits;
  bits << std::hex << "0x" << raw_bits(storage[first]);
  return testing::AssertionFailure()
         << touched << " elements outside the view were written, the first at element " << first
         << " of the storage (bits " << bits.str() << ")";
}

// Watches the memory around one run of a variant: inputs must stay unchanged, guard bands and gaps
// untouched. Register buffers, vectors and stream before the run; they must live until output().
class Hygiene {
 public:
  explicit Hygiene(VariantId id) : id_(std::move(id)) {}

  // `device` holds `stored`.
  template <typename T>
  void input(const std::string& name, const std::vector<T>& stored, const DeviceBuffer<T>& device,
             Stream& stream) {
    inputs_.watch(name, stored);
    checks_.emplace_back([this, name, &device, &stream] {
      EXPECT_TRUE(inputs_.unchanged(name, device.to_host(stream)));
      EXPECT_NO_THROW(device.check_guards()) << "around input " << name;
    });
  }

  template <typename T>
  void workspace(const DeviceBuffer<T>& device) {
    checks_.emplace_back(
        [&device] { EXPECT_NO_THROW(device.check_guards()) << "around the workspace"; });
  }

  // Checks all memory that the run must not touch and returns the elements of `view`. The elements
  // of `device` outside the view must be poison before the run.
  template <typename T>
  std::vector<T> output(const DeviceBuffer<T>& device, const Strided& view, Stream& stream) const {
    const testing::ScopedTrace trace(
        __FILE__, __LINE__, "memory around " + id_.op + "." + id_.dtype + " " + id_.variant);
    EXPECT_FALSE(checks_.empty()) << "name the inputs before the run";
    for (const auto& check : checks_) check();
    EXPECT_NO_THROW(device.check_guards()) << "around the output";
    const std::vector<T> stored = device.to_host(stream);
    EXPECT_TRUE(gaps_intact(stored, view));
    record(id_, view.size() > 0 ? Evidence::hygiene : Evidence::empty);
    return gather(stored, view);
  }

 private:
  VariantId id_;
  InputGuard inputs_;
  std::vector<std::function<void()>> checks_;
};

} // namespace kg::test
