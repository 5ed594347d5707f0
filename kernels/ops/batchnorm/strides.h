// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Strides of a channel's elements in either layout, for kernels that access single elements.
#pragma once

#include "ops/batchnorm/problem.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::batchnorm {

struct Strides {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t spatial;
  std::int64_t batch_step; // in elements
  std::int64_t channel_step;
  std::int64_t spatial_step;

  explicit Strides(const Problem& p)
      : batch(p.batch), channels(p.channels), spatial(p.spatial),
        batch_step(p.channels * p.spatial), channel_step(p.layout == Layout::nchw ? p.spatial : 1),
        spatial_step(p.layout == Layout::nchw ? 1 : p.channels) {}

  __device__ std::int64_t elements() const { return batch * batch_step; }
  __device__ std::int64_t channel_of(std::int64_t element) const {
    return element / channel_step % channels;
  }

  // Calls use(index) for each element of the channel.
  template <class Use>
  __device__ void each_of(std::int64_t channel, Use use) const {
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t s = 0; s < spatial; ++s)
        use(n * batch_step + channel * channel_step + s * spatial_step);
  }
};

} // namespace kg::batchnorm
