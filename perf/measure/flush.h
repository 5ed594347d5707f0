// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Emptying a GPU's L2 cache between samples, and the proof that this works: a timing called cold
// that was not is worse than none.
//
// Cold: when the timing starts, the L2 holds nothing that the row reads and nothing that must be
// written back. All that the row reads comes from memory. When the timing ends, what it wrote last,
// min(L2, bytes written), may still be in the L2: a row that writes no more than the L2 holds (60
// MB on an H200) need not wait for the memory to take any of it.
#pragma once

#include "runtime/buffer.h"

#include <cstddef>

namespace kg::perf {

class Flush {
 public:
  // Of a cache of `l2_bytes` (> 0).
  Flush(std::size_t l2_bytes, Stream& stream);

  // Enqueues a write of twice the cache's size: once is not enough, since caches are hashed and not
  // purely least recently used. Then the written lines are dropped (sm_80 and above): the eviction
  // of a dirty line would be paid by the kernel that is timed next.
  void run(Stream& stream);

  // Times a kernel that reads half the cache's size, one dependent load after another, with the
  // cache flushed and with it primed. Latency shows the difference clearly where bandwidth may not:
  // an L2 delivers little more than HBM, but answers two to three times sooner.
  struct Proof {
    double cold_ns = 0;
    double hot_ns = 0;
    double ratio() const { return cold_ns / hot_ns; }
  };
  Proof prove(Stream& stream);

 private:
  DeviceBuffer<float> swept_;
  DeviceBuffer<int> probed_;
  DeviceBuffer<int> sink_;
};

// The least cold/hot ratio of that kernel by which a flush counts as proved. Without a flush it is
// 1; with one, the ratio of the latencies of memory and L2, 2 to 3 on the GPUs since sm_70, less
// what launching adds.
inline constexpr double kFlushProved = 1.3;

// Gives up what earlier rows set aside in the L2 (cudaAccessPolicyWindow), which a flush does not
// reach. Does nothing on the host backend.
void reset_persisting_l2();

// Enqueues a kernel that occupies the stream for about `ns` and then ends by itself, so that a
// batch behind it is queued completely before its first launch runs. Does nothing on the host
// backend, where launches never wait for the caller.
void delay(double ns, Stream& stream);

} // namespace kg::perf
