// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checkers found in one launch: each pair of lines once, however often it happened.
#pragma once

#include "runtime/error.h"
#include "runtime/host/check/access.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace kg::check {

// The word in brackets with which a finding begins.
enum class Fault {
  out_of_bounds,
  misaligned,
  freed,
  uninitialised,
  race,
  proxy,
  barrier,
  arithmetic
};
const char* name(Fault fault); // "out-of-bounds"

// What repairs it. Of a pair of instructions the hint of the widest reach is shown: what orders the
// lanes of a warp does not order two warps.
struct Hint {
  int reach = 0;
  const char* text = ""; // lives as long as the process; in braces what repair() fills in
  Site first = 0, second = 0;
  Location barrier{}; // that both have passed last; line 0: none
};

// The hint with its lines: "put __syncthreads() between lines 14 and 16 of k.cu". Where the debug
// information lacks a line it names none.
std::string repair(const Hint& hint);

class Findings {
 public:
  // True for the first of its kind at this pair of instructions: the caller then sets its text.
  bool is_new(Fault fault, Site site, Site other, Hint hint = {});
  void add(Fault fault, Site site, Site other, std::string text, Hint hint = {});

  bool empty() const { return findings_.empty(); }
  void clear() { findings_.clear(); }
  // All of them, the first in full, with how often each happened; ends without a newline.
  std::string text() const;

 private:
  static constexpr std::size_t kShown = 8;

  struct Finding {
    std::uint64_t count = 0;
    std::size_t order = 0;
    std::string text;
    Hint hint;
  };
  std::map<std::tuple<Fault, Site, Site>, Finding> findings_;
};

} // namespace kg::check
