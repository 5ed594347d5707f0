// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The checkers' findings in a program, from the events that it wrote
// (kernels/runtime/event_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kg::program {

struct Place {
  std::string file; // relative if it is below the current folder
  int line = 0;
  bool operator==(const Place&) const = default;
};

struct Finding {
  std::string rule;          // "race", "out-of-bounds", "deadlock", ...
  std::string text;          // the checkers' message, hints included, paths as in `places`
  std::string hint;          // "" if there is none
  std::string kernel;        // the first one named in the text; "" if none is
  std::vector<Place> places; // the access, then the other thread's access; may be empty
  bool fails = true;         // false for leaks and unused values, which are only reported
};

struct Events {
  std::vector<Finding> findings;
  std::uint64_t launches = 0; // also 0 for a program that did not finish
  // If loads of never-written memory are no findings (RunMode::fill): these loads, and a hash of
  // what left the device, or "" if the program did not get to its end.
  std::vector<Finding> undefined_loads;
  std::string results;
};

// `folder`: the current one. Throws Error if it is not an event file.
Events read_events(std::string_view file, const std::string& folder);

} // namespace kg::program
