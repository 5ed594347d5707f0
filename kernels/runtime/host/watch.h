// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Without instrumentation, polling by plain C++ (volatile or an atomic type) is invisible. A launch
// that makes no progress for some time therefore gets more OS threads.
#pragma once

#include <cstdint>

namespace kg::host {

class Watched {
 public:
  virtual ~Watched() = default;
  virtual std::uint64_t progress() = 0; // changes whenever there was progress
  virtual void add_workers(unsigned count) = 0;
};

// Monitors a launch during its lifetime.
class Watch {
 public:
  explicit Watch(Watched& watched);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  Watched& watched_;
};

} // namespace kg::host
