// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the header of every operation speaks in: which variants there are of a problem, the call of
// one of them by its name, and the table of both that a backend brings (host/<op>.cpp, cuda/<op>).
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

template <class Variants, class Call>
struct VariantOfTypes;
template <class... Problem, class... Arguments>
struct VariantOfTypes<Names (*)(Problem...), void (*)(std::string_view, Arguments...)> {
  std::string_view name;
  bool (*supports)(Problem...);
  void (*run)(Arguments...);
};

// A library's part in an operation: whether it takes a problem, which is asked as `variants` is and
// needs no device, and its call, which gets what `call` does behind the variant's name once that
// has checked it (dispatch.h).
template <auto variants, auto call>
using VariantOf = VariantOfTypes<decltype(variants), decltype(call)>;

// What a backend brings of an operation, in the order in which names are listed; not for use before
// main.
template <class Variant>
using Table = std::initializer_list<Variant>;

// For a library that takes every problem.
template <class... Problem>
bool always(Problem...) {
  return true;
}

} // namespace kg::vendor
