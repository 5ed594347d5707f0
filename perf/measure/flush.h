// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Empties a GPU's L2 cache between samples, and proves that this works.
//
// Cold means: when the timing starts, the L2 holds none of the row's inputs and no dirty lines. So
// the row reads all of its inputs from memory. When the timing ends, up to min(L2, bytes written)
// of its outputs may still be in the L2. A row that writes less than the L2 holds (60 MB on an
// H200) need not wait for any write to reach memory.
#pragma once

#include "runtime/buffer.h"

#include <cstddef>

namespace kg::perf {

class Flush {
 public:
  // l2_bytes: the size of the cache, above 0.
  Flush(std::size_t l2_bytes, Stream& stream);

  // Enqueues a write of twice the cache's size. Once would not suffice, since caches are hashed and
  // not strictly LRU. From sm_80 on, the written lines are then discarded: otherwise the next timed
  // kernel would pay for their write-back.
  void run(Stream& stream);

  // Times a chain of dependent loads over half the cache's size, with a flushed and with a warm
  // cache. Latency is a clearer criterion than bandwidth: an L2 has little more bandwidth than HBM,
  // but a half to a third of its latency.
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

// The minimum ratio() that proves a flush. Without a flush the ratio is 1. With one it is the ratio
// of the latencies of memory and L2, 2 to 3 since sm_70, reduced by the launch overhead.
inline constexpr double kFlushProved = 1.3;

// Resets lines that earlier rows made persistent in the L2 (cudaAccessPolicyWindow), which a flush
// does not evict. Does nothing on the host backend.
void reset_persisting_l2();

// Enqueues a kernel that occupies the stream for about `ns`, so that the batch after it is queued
// completely before its first launch runs. Does nothing on the host backend, where a launch runs in
// the caller.
void delay(double ns, Stream& stream);

} // namespace kg::perf
