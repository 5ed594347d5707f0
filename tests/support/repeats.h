// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Results must not depend on chance: the same bits in every run and thread order, and on a stream
// whose earlier work is still running. For .cu files: the slow kernel is device code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "runtime/schedule.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/ledger.h"

#include "runtime/device_code.h"

namespace kg::test {

// `run()` returns the elements of a result, computed into newly poisoned memory each time. A GPU
// makes 51 runs in its own thread order; the host makes one more run in each order. Pass exact data
// for a variant that its header does not declare deterministic: then every order gives the same
// bits.
template <class Run>
testing::AssertionResult same_bits_every_time(const VariantId& id, Run run) {
  constexpr int kRepeats = backend == Backend::cuda ? 50 : 1;
  const std::uint64_t first = fnv1a64(run());
  record(id, Evidence::repeats);
  for (const Schedule& schedule : thread_orders()) {
    const ScopedSchedule scope(schedule);
    for (int repeat = 1; repeat <= kRepeats; ++repeat) {
      if (fnv1a64(run()) != first)
        return testing::AssertionFailure()
               << id.op << "." << id.dtype << " " << id.variant << ": run " << repeat
               << " in order " << to_string(schedule) << " gives other bits than the first run";
    }
  }
  return testing::AssertionSuccess();
}

// Copies bytes after a long single-threaded computation, so a reader that does not wait for this
// kernel sees the old contents. `zero` is 0, but the compiler does not know that, and so must keep
// the computation.
template <class Byte>
__global__ void copy_delayed(const Byte* from, Byte* to, std::int64_t bytes, unsigned spins,
                             unsigned zero) {
  unsigned state = 1;
  for (unsigned i = 0; i < spins; ++i) state = state * 1664525u + (state >> 16);
  from += state & zero;
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}

// An input that stays poison until a slow kernel on `stream` has written `values`: tens of
// milliseconds on a GPU. An earlier reader reads NaN.
template <typename T>
class LateInput {
 public:
  LateInput(const std::vector<T>& values, Stream& stream)
      : early_(DeviceBuffer<T>::from_host(values, stream)),
        late_(DeviceBuffer<T>::from_host(poisoned<T>(static_cast<std::int64_t>(values.size())),
                                         stream)) {
    constexpr unsigned kSpins = backend == Backend::cuda ? 1u << 22 : 1u;
    launch(copy_delayed<unsigned char>, {.grid = 1, .block = 1, .stream = &stream},
           reinterpret_cast<const unsigned char*>(early_.data()),
           reinterpret_cast<unsigned char*>(late_.data()),
           static_cast<std::int64_t>(early_.bytes()), kSpins, 0u);
  }

  const T* data() const { return late_.data(); }

 private:
  DeviceBuffer<T> early_;
  DeviceBuffer<T> late_;
};

} // namespace kg::test
