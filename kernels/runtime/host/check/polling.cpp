// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/polling.h"

#include "runtime/host/check/source_line.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace kg::check {
namespace {

// The line of an instruction as a Location that lives as long as the process.
std::optional<Location> line_of(Site site) {
  if (is_common_code(site)) return std::nullopt;
  const std::string line = source_line(site); // "softmax.cu:52"
  const std::size_t colon = line.rfind(':');
  if (colon == std::string::npos) return Location{(new std::string(line))->c_str(), 0};
  const std::string* const file = new std::string(line.substr(0, colon));
  return Location{file->c_str(), std::stoi(line.substr(colon + 1))};
}

} // namespace

void poll(const void* instruction) {
  static std::unordered_map<Site, std::optional<Location>> lines;
  host::Block* const block = std::exchange(host::current_block, nullptr); // not the kernel's code
  const auto [at, is_new] = lines.try_emplace(site_of(instruction));
  if (is_new) at->second = line_of(at->first);
  const std::optional<Location> where = at->second;
  host::current_block = block;
  if (where)
    host::poll(*where);
  else
    host::looks.begin_anew();
}

} // namespace kg::check
