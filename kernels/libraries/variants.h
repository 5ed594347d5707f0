// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the header of every operation speaks in: the call of a variant by its name, and the table
// that a backend brings (host/<op>.cpp, cuda/<op>), which says what variants there are of a
// problem.
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

using Names = std::vector<std::string_view>;

// A library's part in an operation: whether it takes a problem, which needs no device, and its
// call, which gets what the operation's does behind the variant's name once that has checked it
// (dispatch.h).
template <class Call, class... Problem>
struct VariantOf {
  std::string_view name;
  bool (*supports)(Problem...);
  Call* run;
};

// What a backend brings of an operation, in the order in which names are listed; not for use before
// main.
template <class Variant>
using Table = std::initializer_list<Variant>;

// The names in `table`, in its order, of the variants that support the problem.
template <class Variant, class... Problem>
Names names(const Table<Variant>& table, const Problem&... problem) {
  Names result;
  for (const Variant& each : table)
    if (each.supports(problem...)) result.push_back(each.name);
  return result;
}

// For a library that takes every problem.
template <class... Problem>
bool always(Problem...) {
  return true;
}

} // namespace kg::vendor
