// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every operation's dispatch does: check arguments, find the variant. An operation's backends
// (host/<op>.cpp, cuda/<op>) each define its table of variants; they see only problems that
// passed the checks. The functions in a table may be asked for support without a device.
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "vendor/library.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::vendor {

inline constexpr auto kAlways = [](const auto&) { return true; };

// The names in `table`, in its order, of the entries for which `supports(entry)`.
template <class Entry, class Supports>
std::vector<std::string_view> names(std::span<const Entry> table, Supports supports) {
  std::vector<std::string_view> result;
  for (const Entry& entry : table)
    if (supports(entry)) result.push_back(entry.name);
  return result;
}

// Whether `name` is among them, for what is made of other operations.
inline bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void fail_unknown(std::string_view variant, std::string_view what,
                               const std::vector<std::string_view>& known);

// The entry called `variant`; an Error that lists those there are if none supports the problem
// `what`.
template <class Entry, class Supports>
const Entry& find(std::span<const Entry> table, std::string_view variant, std::string_view what,
                  Supports supports) {
  for (const Entry& entry : table)
    if (entry.name == variant && supports(entry)) return entry;
  fail_unknown(variant, what, names(table, supports));
}

struct Extent {
  const char* name;
  std::int64_t value;
};
// Errors name `what`, the argument, its value and the fix.
void require_extents(std::string_view what, std::initializer_list<Extent> extents);

struct Pointer {
  const char* name;
  const void* value;
};
void require_pointers(std::string_view what, std::initializer_list<Pointer> pointers);

void require_leading(std::string_view what, const char* name, std::int64_t value,
                     std::int64_t row_length);

// "operation(detail)", for messages.
std::string join(std::string_view operation, std::string_view detail);

} // namespace kg::vendor
