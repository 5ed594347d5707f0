// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The global memory that a launch has read and written, derived from existing checker state: the
// shadow and the log of reads.
#pragma once

#include "runtime/host/check/read_log.h"
#include "runtime/host/check/shadow.h"
#include "runtime/host/check/work_log.h"

#include <functional>
#include <vector>

namespace kg::check {

class LaunchTouches {
 public:
  // `counts`: whether an instruction belongs to the kernel.
  explicit LaunchTouches(std::function<bool(Site)> counts) : counts_(std::move(counts)) {}

  // Adds the cells of a page accessed from the moment `from` on. `read_enough`: the value of
  // Cell::reads if the launch has read a cell so often that further reads are not recorded.
  void add(const Page& page, Time from, Reads read_enough);
  void add(std::vector<ReadRun> reads);
  // All accesses by address, with adjacent ones merged.
  std::vector<Touched> take();

 private:
  bool counts(Site site);
  void add(std::uintptr_t begin, std::uintptr_t end, TouchKind kind, Site site);

  std::function<bool(Site)> counts_;
  Site asked_ = 0; // the last query and its answer
  bool answer_ = false;
  std::vector<Touched> touched_;
};

} // namespace kg::check
