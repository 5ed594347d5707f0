// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/unequal.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/launch.h"

namespace kg::test {
namespace unequal {

constexpr int kThreads = 256;

// Each thread writes its own count: without atomics, broken atomics cannot hide a mismatch.
template <class Word>
__global__ void count(std::int64_t size, Word expected, const Word* words, std::int64_t* counts) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  std::int64_t unequal = 0;
  for (std::int64_t i = thread; i < size; i += threads) unequal += words[i] != expected;
  counts[thread] = unequal;
}

} // namespace unequal
namespace {

template <class Word>
std::int64_t count_words(const void* device, std::int64_t size, std::uint64_t bits,
                         Stream& stream) {
  if (size == 0) return 0;
  const DeviceProperties& gpu = device_properties();
  const std::int64_t most =
      std::int64_t{gpu.sm_count} * std::max(1, gpu.max_threads_per_sm / unequal::kThreads);
  const std::int64_t blocks = std::min((size - 1) / unequal::kThreads + 1, most);
  const DeviceBuffer<std::int64_t> counts(static_cast<std::size_t>(blocks * unequal::kThreads));
  launch(unequal::count<Word>,
         {.grid = dim3(static_cast<unsigned>(blocks)),
          .block = dim3(unequal::kThreads),
          .stream = &stream},
         size, static_cast<Word>(bits), static_cast<const Word*>(device), counts.data());
  const std::vector<std::int64_t> found = counts.to_host(stream);
  return std::accumulate(found.begin(), found.end(), std::int64_t{0});
}

} // namespace

std::int64_t count_unequal(const void* device, std::int64_t count, std::size_t element_bytes,
                           std::uint64_t bits, Stream& stream) {
  switch (element_bytes) {
  case 1: return count_words<std::uint8_t>(device, count, bits, stream);
  case 2: return count_words<std::uint16_t>(device, count, bits, stream);
  case 4: return count_words<std::uint32_t>(device, count, bits, stream);
  case 8: return count_words<std::uint64_t>(device, count, bits, stream);
  default:
    fail("count_unequal: elements of " + std::to_string(element_bytes) +
         " bytes; give 1, 2, 4 or 8");
  }
}

} // namespace kg::test
