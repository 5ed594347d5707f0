// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Canaries: four fixed kernels, one per Kind, whose time says how fast this machine is just now at
// copying, computing, synchronising or launching. A row's time over its canary's is what the host
// backend grades, and what tells a slower kernel from a slower machine. A canary's code and sizes
// are part of every baseline: changing either means blessing all of them again.
#pragma once

#include "perf/measure/suite.h"
#include "runtime/buffer.h"

namespace kg::perf {

inline constexpr Kind kKinds[] = {Kind::memory, Kind::compute, Kind::sync, Kind::launch};

class Canary {
 public:
  // Allocates what the kernel reads and writes. About 1 ms per execution on one host core, 0.1 to 1
  // ms on a GPU.
  Canary(Kind kind, Stream& stream);

  // Enqueues one execution. Its result is the same each time.
  void run(Stream& stream);

  // Throws Error unless the last execution left what it must: a canary that does not run would make
  // every row look slow.
  void check(Stream& stream) const;

  // Launches in one execution, by which its time is divided.
  int launches() const;

 private:
  Kind kind_;
  DeviceBuffer<float> input_;
  DeviceBuffer<float> output_;
};

} // namespace kg::perf
