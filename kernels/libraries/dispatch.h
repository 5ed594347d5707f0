// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Argument checks and the search for a variant, shared by all operations.
#pragma once

#include "libraries/variants.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace kg::vendor {

// Whether `names` contains `name`; for variants that consist of other operations.
inline bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void fail_unknown(std::string_view variant, std::string_view what, const Names& known);

// Returns the variant of this name. Throws Error, naming `what` and the supported variants, if
// there is no such variant or it does not support the problem.
template <class Variant, class... Problem>
const Variant& find(const Table<Variant>& table, std::string_view variant, std::string_view what,
                    const Problem&... problem) {
  for (const Variant& each : table)
    if (each.name == variant && each.supports(problem...)) return each;
  fail_unknown(variant, what, names(table, problem...));
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

// "operation(details)", for messages.
std::string join(std::string_view operation, std::initializer_list<std::string_view> details);

} // namespace kg::vendor
