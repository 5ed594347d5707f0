// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/stream.h"

#include <algorithm>
#include <limits>

namespace kg::vendor {

// For Proposals::run_fastest: the nanoseconds that `stream` takes for what a call enqueues. The
// least of three times, since what delays the caller comes on top.
class TimeOn {
 public:
  explicit TimeOn(Stream& stream) : stream_(stream) {}

  template <class Call>
  double operator()(Call call) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
      Event start, stop;
      start.record(stream_);
      call();
      stop.record(stream_);
      stop.synchronize();
      least = std::min(least, elapsed_ns(start, stop));
    }
    return least;
  }

 private:
  Stream& stream_;
};

} // namespace kg::vendor
