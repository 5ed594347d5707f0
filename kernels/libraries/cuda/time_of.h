// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/stream.h"

#include <algorithm>
#include <limits>

namespace kg::vendor {

// For Proposals::run_fastest: the nanoseconds that the work of a call takes on `stream`. Returns
// the minimum of three times, since delays of the caller only add to the time.
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
