// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Canaries: four fixed kernels, one per Bound. Their times say how fast the machine currently
// copies, computes, synchronises or launches. The ratio of a row's time to its canary's time tells
// a slower kernel from a slower machine; the host backend grades this ratio. Every baseline depends
// on the canary's code and sizes, so a change of either requires new baselines.
#pragma once

#include "perf/measure/suite.h"
#include "runtime/buffer.h"

namespace kg::perf {

inline constexpr Bound kKinds[] = {Bound::memory, Bound::compute, Bound::sync, Bound::launch};

class Canary {
 public:
  // Allocates the buffers. One execution takes about 1 ms on a host core and 0.1 to 1 ms on a GPU.
  Canary(Bound kind, Stream& stream);

  // Enqueues one execution. Its result is the same each time.
  void run(Stream& stream);

  // Throws Error if the last execution's result is wrong. A canary that did not run would make
  // every row look slow.
  void check(Stream& stream) const;

  // The number of launches in one execution. Times are divided by it.
  int launches() const;

 private:
  Bound kind_;
  DeviceBuffer<float> input_;
  DeviceBuffer<float> output_;
};

} // namespace kg::perf
