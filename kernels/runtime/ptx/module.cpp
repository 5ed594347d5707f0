// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/module.h"

#include "runtime/ptx/entry_places.h"

#include <algorithm>
#include <cstring>

namespace kg::ptx_run {
std::size_t size_of(std::string_view type) {
  if (type == "pred") return 1;
  if (type == "f16x2" || type == "bf16x2" || type == "tf32") return 4;
  const std::string_view digits =
      type.substr(std::min(type.find_first_of("0123456789"), type.size()));
  const std::string_view letters = type.substr(0, type.size() - digits.size());
  if (letters != "b" && letters != "u" && letters != "s" && letters != "f" && letters != "bf")
    return 0;
  if (digits == "8") return 1;
  if (digits == "16") return 2;
  if (digits == "32") return 4;
  if (digits == "64") return 8;
  return digits == "128" ? 16 : 0;
}

Place Module::named(const Place& place) const {
  // kernels/instructions, whose functions are single instructions
  const auto is_instruction = [](const std::string& path) {
    return path.find("/kernels/instructions/") != std::string::npos;
  };
  const auto is_wrapper = [&](const Place& at) {
    const auto found = files.find(at.file);
    return found != files.end() && (is_of_toolkit(found->second) || is_instruction(found->second));
  };
  Place at = place;
  while (is_wrapper(at) && at.caller != 0) at = callers[static_cast<std::size_t>(at.caller) - 1];
  return is_wrapper(at) ? place : at;
}

std::vector<std::string> entry_names(std::string_view text) {
  std::vector<std::string> names;
  constexpr std::string_view kMark = ".entry ";
  for (;;) { // with memmem, because every other word begins with a dot
    const void* const found = ::memmem(text.data(), text.size(), kMark.data(), kMark.size());
    if (found == nullptr) return names;
    text.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) +
                       kMark.size());
    names.emplace_back(text.substr(0, text.find_first_of("( \t\r\n")));
  }
}

} // namespace kg::ptx_run
