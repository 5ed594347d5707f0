// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

namespace kg::host {

// Lets OS threads run one at a time, each until it yields, always in the same order. Blocks that
// run together do so with an observer attached, so that it sees the same events in every run.
class Turns {
 public:
  explicit Turns(unsigned count) : present_(count, true) {}

  void begin(unsigned rank); // returns when it is `rank`'s turn
  void yield(unsigned rank); // all others run first, once around
  void end(unsigned rank);   // permanently

 private:
  void pass_on();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> present_;
  unsigned current_ = 0;
};

} // namespace kg::host
