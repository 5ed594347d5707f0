// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the headers of all operations: the names of variants, and the table in which a backend
// lists its variants of an operation (host/<op>.cpp, cuda/<op>).
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

// A library's implementation of an operation. `supports` returns whether it takes a problem, and
// needs no device. `run` gets the arguments that follow the variant's name in the operation's call,
// which has checked them (dispatch.h).
template <class Call, class... Problem>
struct VariantOf {
  std::string_view name;
  bool (*supports)(Problem...);
  Call* run;
};

// A backend's variants of an operation, in the order in which names are listed. Not for use before
// main.
template <class Variant>
using Table = std::initializer_list<Variant>;

// The names of the variants that support the problem, in the order of the table.
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
