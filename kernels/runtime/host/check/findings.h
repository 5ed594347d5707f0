// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The findings of one launch: each pair of lines once, with a count of occurrences.
#pragma once

#include "runtime/error.h"
#include "runtime/host/check/access.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace kg::check {

// The bracketed tag at the start of a finding.
enum class Fault {
  out_of_bounds,
  misaligned,
  freed,
  uninitialised,
  read_only,
  race,
  proxy,
  barrier,
  arithmetic
};
const char* name(Fault fault); // "out-of-bounds"

// A suggested fix. For a pair of instructions, the hint with the largest reach is shown: ordering
// the lanes of a warp does not order two warps.
struct Hint {
  int reach = 0;
  const char* text = ""; // static; repair() fills in the braces
  Site first = 0, second = 0;
  Location barrier{}; // the last barrier that both have passed; line 0: none
};

// The hint with its lines: "put __syncthreads() between lines 14 and 16 of k.cu". Omits lines that
// are missing in the debug information.
std::string repair(const Hint& hint);

class Findings {
 public:
  // True for the first of its kind at this pair of instructions: the caller then sets its text.
  bool is_new(Fault fault, Site site, Site other, Hint hint = {});
  void add(Fault fault, Site site, Site other, std::string text, Hint hint = {});

  bool empty() const { return findings_.empty(); }
  void clear() { findings_.clear(); }
  // All findings with their counts, the first in full; ends without a newline.
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
