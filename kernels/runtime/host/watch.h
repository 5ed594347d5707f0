// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Polling by plain C++ is not seen without instrumentation: by volatile, or by an atomic type.
// Where a launch makes no progress for some time, it gets more OS threads.
#pragma once

#include <cstdint>

namespace kg::host {

class Watched {
 public:
  virtual ~Watched() = default;
  virtual std::uint64_t progress() = 0; // another number whenever there was some
  virtual void add_workers(unsigned count) = 0;
};

// While it lives, somebody watches.
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
