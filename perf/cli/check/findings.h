// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checkers found in a program, from the events that it left
// (kernels/runtime/event_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kg::program {

struct Place {
  std::string file; // relative where it lies below the current folder
  int line = 0;
};

struct Finding {
  std::string rule;          // "race", "out-of-bounds", "deadlock", ...
  std::string text;          // as the checkers word it, hints included, paths as in `places`
  std::string hint;          // "" where there is none
  std::string kernel;        // the first that the text names; "" where it names none
  std::vector<Place> places; // the access, then that of the other thread; may be empty
  bool fails = true;         // a leak is only said
};

struct Events {
  std::vector<Finding> findings;
  std::uint64_t launches = 0; // 0, too, of a program that did not come to its end
};

// `folder`: the current one. Throws Error where it is no file of events.
Events read_events(std::string_view file, const std::string& folder);

} // namespace kg::program
