// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "runtime/error.h"

namespace kg::card {

// A problem's shape as the operation's own struct: parsed once, when the problem is created, and
// shared by its copies.
class Parameters {
 public:
  Parameters() = default;

  template <class P>
  requires(!std::same_as<std::remove_cvref_t<P>, Parameters>)
      Parameters(P parameters) // NOLINT(google-explicit-constructor): a struct is its parameters
      : value_(std::make_shared<const std::any>(std::move(parameters))) {}

  // Throws Error if the problem has no parameters, or those of another operation.
  template <class P>
  const P& as() const {
    const P* const found = value_ ? std::any_cast<P>(value_.get()) : nullptr;
    require(found, "the problem has no parameters of this type; its operation must set them");
    return *found;
  }

 private:
  std::shared_ptr<const std::any> value_;
};

} // namespace kg::card
