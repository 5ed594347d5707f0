// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

namespace kg::host {

// Lets OS threads run one at a time, each until it yields, and always in the same order: blocks
// that run together do so under an observer, who then sees the same each time.
class Turns {
 public:
  explicit Turns(unsigned count) : present_(count, true) {}

  void begin(unsigned rank); // returns when it is the turn of `rank`
  void yield(unsigned rank); // the others go first, once around
  void end(unsigned rank);   // for good

 private:
  void pass_on();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> present_;
  unsigned current_ = 0;
};

} // namespace kg::host
