// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/dispatch.h"

#include "runtime/error.h"

namespace kg::vendor {
namespace {

std::string prefix(std::string_view what) { return "kg::vendor::" + std::string(what) + ": "; }

} // namespace

void fail_unknown(std::string_view variant, std::string_view what, const Names& known) {
  std::string list;
  for (std::string_view name : known) list += (list.empty() ? "" : ", ") + std::string(name);
  fail(prefix(what) + "no variant \"" + std::string(variant) +
       "\" on this backend; use one of: " + (list.empty() ? "(none)" : list));
}

void require_extents(std::string_view what, std::initializer_list<Extent> extents) {
  for (const Extent& extent : extents)
    require(extent.value >= 0, prefix(what) + extent.name + " is " + std::to_string(extent.value) +
                                   "; it must not be negative");
}

void require_pointers(std::string_view what, std::initializer_list<Pointer> pointers) {
  for (const Pointer& pointer : pointers)
    require(pointer.value != nullptr,
            prefix(what) + pointer.name + " is null; pass memory of the backend");
}

void require_leading(std::string_view what, const char* name, std::int64_t value,
                     std::int64_t row_length) {
  require(value >= row_length, prefix(what) + name + " is " + std::to_string(value) +
                                   "; rows are " + std::to_string(row_length) +
                                   " long, it must not be less");
}

std::string join(std::string_view operation, std::initializer_list<std::string_view> details) {
  std::string list;
  for (std::string_view detail : details) list += (list.empty() ? "" : " ") + std::string(detail);
  return std::string(operation) + "(" + list + ")";
}

} // namespace kg::vendor
