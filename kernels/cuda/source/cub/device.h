// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUB's device-wide algorithms (DeviceReduce, DeviceScan, DeviceRadixSort), run by one host thread.
// They need no temporary memory, so the first call asks for one byte.
#pragma once

#include "cuda/source/cub/block.h"
#include "cuda/source/launch.h"
#include "runtime/host/device_memory.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

namespace cub {
namespace detail {

// Runs `work` on the stream, unless the call only asks for the size of temporary memory.
template <class Work>
cudaError_t device(void* memory, std::size_t& bytes, cudaStream_t stream, Work work) {
  if (!memory) {
    bytes = 1;
    return cudaSuccess;
  }
  kg::host::host_libraries_read = true;
  return kg::foreign::on_stream(stream, "CUB", work);
}
template <class T>
void note_written(T* to, std::size_t count) {
  kg::foreign::note_written(to, count * sizeof(T));
}
template <class Iterator>
void note_written(Iterator, std::size_t) {} // not a pointer

template <class Iterator>
using Value = std::decay_t<decltype(*std::declval<Iterator>())>;

} // namespace detail

struct DeviceReduce {
  template <class In, class Out, class Combine, class T>
  static cudaError_t Reduce(void* memory, std::size_t& bytes, In in, Out out, std::size_t n,
                            Combine combine, T initial, cudaStream_t stream = nullptr) {
    return detail::device(memory, bytes, stream, [=] {
      auto total = initial;
      for (std::size_t i = 0; i < n; ++i) total = combine(total, static_cast<T>(in[i]));
      *out = total;
      detail::note_written(out, 1);
    });
  }
  template <class In, class Out>
  static cudaError_t Sum(void* memory, std::size_t& bytes, In in, Out out, std::size_t n,
                         cudaStream_t stream = nullptr) {
    return Reduce(memory, bytes, in, out, n, cub::Sum(), detail::Value<In>{}, stream);
  }
  template <class In, class Out>
  static cudaError_t Max(void* memory, std::size_t& bytes, In in, Out out, std::size_t n,
                         cudaStream_t stream = nullptr) {
    return Reduce(memory, bytes, in, out, n, cub::Max(),
                  std::numeric_limits<detail::Value<In>>::lowest(), stream);
  }
  template <class In, class Out>
  static cudaError_t Min(void* memory, std::size_t& bytes, In in, Out out, std::size_t n,
                         cudaStream_t stream = nullptr) {
    return Reduce(memory, bytes, in, out, n, cub::Min(),
                  std::numeric_limits<detail::Value<In>>::max(), stream);
  }
};

struct DeviceScan {
  template <class In, class Out>
  static cudaError_t InclusiveSum(void* memory, std::size_t& bytes, In in, Out out, std::size_t n,
                                  cudaStream_t stream = nullptr) {
    return detail::device(memory, bytes, stream, [=] {
      detail::Value<In> sum{};
      for (std::size_t i = 0; i < n; ++i) out[i] = sum = sum + in[i];
      detail::note_written(out, n);
    });
  }
  template <class In, class Out>
  static cudaError_t ExclusiveSum(void* memory, std::size_t& bytes, In in, Out out, std::size_t n,
                                  cudaStream_t stream = nullptr) {
    return detail::device(memory, bytes, stream, [=] {
      detail::Value<In> sum{};
      for (std::size_t i = 0; i < n; ++i) {
        const auto item = in[i]; // in and out may be the same array
        out[i] = sum;
        sum = sum + item;
      }
      detail::note_written(out, n);
    });
  }
};

// Compares whole keys: the bit range is ignored.
struct DeviceRadixSort {
  template <class Key, class Value>
  static cudaError_t SortPairs(void* memory, std::size_t& bytes, const Key* keys, Key* sorted,
                               const Value* values, Value* sorted_values, std::size_t n, int = 0,
                               int = 8 * sizeof(Key), cudaStream_t stream = nullptr) {
    return pairs(memory, bytes, keys, sorted, values, sorted_values, n, std::less<Key>(), stream);
  }
  template <class Key, class Value>
  static cudaError_t SortPairsDescending(void* memory, std::size_t& bytes, const Key* keys,
                                         Key* sorted, const Value* values, Value* sorted_values,
                                         std::size_t n, int = 0, int = 8 * sizeof(Key),
                                         cudaStream_t stream = nullptr) {
    return pairs(memory, bytes, keys, sorted, values, sorted_values, n, std::greater<Key>(),
                 stream);
  }
  template <class Key>
  static cudaError_t SortKeys(void* memory, std::size_t& bytes, const Key* keys, Key* sorted,
                              std::size_t n, int begin = 0, int end = 8 * sizeof(Key),
                              cudaStream_t stream = nullptr) {
    const char* const none = nullptr;
    return SortPairs<Key, char>(memory, bytes, keys, sorted, none, nullptr, n, begin, end, stream);
  }
  template <class Key>
  static cudaError_t SortKeysDescending(void* memory, std::size_t& bytes, const Key* keys,
                                        Key* sorted, std::size_t n, int begin = 0,
                                        int end = 8 * sizeof(Key), cudaStream_t stream = nullptr) {
    const char* const none = nullptr;
    return SortPairsDescending<Key, char>(memory, bytes, keys, sorted, none, nullptr, n, begin, end,
                                          stream);
  }

 private:
  template <class Key, class Value, class Before>
  static cudaError_t pairs(void* memory, std::size_t& bytes, const Key* keys, Key* sorted,
                           const Value* values, Value* sorted_values, std::size_t n, Before before,
                           cudaStream_t stream) {
    return detail::device(memory, bytes, stream, [=] {
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return before(keys[a], keys[b]); });
      const std::vector<Key> from(keys, keys + n);
      for (std::size_t i = 0; i < n; ++i) sorted[i] = from[order[i]];
      detail::note_written(sorted, n);
      if (!values) return;
      const std::vector<Value> with(values, values + n);
      for (std::size_t i = 0; i < n; ++i) sorted_values[i] = with[order[i]];
      detail::note_written(sorted_values, n);
    });
  }
};

} // namespace cub
