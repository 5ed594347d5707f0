// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/named_path.h"

#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::judge {
namespace {

constexpr std::size_t kLongest = 200; // file systems allow 255 bytes

bool may_stand(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

} // namespace

std::filesystem::path named_path(const std::filesystem::path& folder, std::string_view what,
                                 std::string_view name, std::string_view extension) {
  if (name.empty() || name.size() > kLongest || name.front() == '.' || name.front() == '-' ||
      !std::all_of(name.begin(), name.end(), may_stand))
    throw Error(fmt::format("the {} '{}{}' cannot name a file; use at most {} letters, digits, "
                            "'_', '-' and '.', the first a letter, a digit or '_'",
                            what, name.substr(0, kLongest), name.size() > kLongest ? "..." : "",
                            kLongest));
  return folder / fmt::format("{}{}", name, extension);
}

} // namespace kg::judge
