// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a launch has read and written of global memory, from what the checkers keep of it anyway:
// the shadow and the log of reads.
#pragma once

#include "runtime/host/check/read_log.h"
#include "runtime/host/check/shadow.h"
#include "runtime/host/check/work_log.h"

#include <functional>
#include <vector>

namespace kg::check {

class LaunchTouches {
 public:
  // `counts`: whether an instruction is the kernel's own.
  explicit LaunchTouches(std::function<bool(Site)> counts) : counts_(std::move(counts)) {}

  // The cells of a page that were accessed from the moment `from` on. `read_enough`: Cell::reads
  // where the launch has read them so often that no further read is entered.
  void add(const Page& page, Time from, Reads read_enough);
  void add(std::vector<ReadRun> reads);
  // All of it by address, what lies next to each other together.
  std::vector<Touched> take();

 private:
  bool counts(Site site);
  void add(std::uintptr_t begin, std::uintptr_t end, TouchKind kind, Site site);

  std::function<bool(Site)> counts_;
  Site asked_ = 0; // last, and the answer
  bool answer_ = false;
  std::vector<Touched> touched_;
};

} // namespace kg::check
