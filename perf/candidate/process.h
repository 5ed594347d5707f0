// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/child_process.h"

#include <string>
#include <utility>
#include <vector>

namespace kg::candidate {

// With what it writes to standard error among its output.
inline perf::Finished run_whole(std::vector<std::string> command) {
  command.insert(command.begin(), {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"});
  return perf::run_process(command, perf::Output::capture);
}

// The same of a program that a candidate is loaded into: after 10 minutes it is ended, with exit
// code 124.
inline constexpr int kMostSeconds = 600;
inline perf::Finished run_limited(std::vector<std::string> command) {
  command.insert(command.begin(), {"timeout", "-k", "5", std::to_string(kMostSeconds)});
  return run_whole(std::move(command));
}

// The message of an Error without the place in our sources that threw it.
inline std::string without_place(const std::string& text) {
  const std::size_t place = text.find(".cpp:");
  const std::size_t end = place == std::string::npos ? place : text.find(": ", place + 5);
  return end == std::string::npos ? text : text.substr(end + 2);
}

} // namespace kg::candidate
