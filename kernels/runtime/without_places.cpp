// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/without_places.h"

#include <string_view>

namespace kg {
namespace {

// The length of a location such as "perf/cli/run.cpp:12: " at `at`; 0 if there is none.
std::size_t place_length(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (!rest.starts_with("kernels/") && !rest.starts_with("perf/") && !rest.starts_with("tests/"))
    return 0;
  const std::size_t colon = rest.find(':');
  const std::string_view file = rest.substr(0, colon);
  if (colon == rest.npos || file.find_first_of(" \n") != file.npos ||
      !(file.ends_with(".cpp") || file.ends_with(".h") || file.ends_with(".cu")))
    return 0;
  const std::size_t behind = rest.find_first_not_of("0123456789", colon + 1);
  if (behind == rest.npos || behind == colon + 1 || !rest.substr(behind).starts_with(": "))
    return 0;
  const std::string_view said = rest.substr(behind, rest.find('\n', behind) - behind);
  return said.find(" failed: ") == said.npos ? behind + 2 : 0;
}

} // namespace

std::string without_places(std::string message) {
  for (std::size_t at = 0; at < message.size();)
    if (const std::size_t length = at == 0 || message[at - 1] == ' ' || message[at - 1] == '\n'
                                       ? place_length(message, at)
                                       : 0)
      message.erase(at, length);
    else
      ++at;
  return message;
}

} // namespace kg
