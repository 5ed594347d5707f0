// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From the name of an element type to the type, and between its bytes and numbers.
#pragma once

#include "runtime/device_code.h"
#include "runtime/error.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kg::models {

// call(T{}), T being the floating-point type that `dtype` names.
template <class Call>
auto with_element(Dtype dtype, const Call& call) {
  switch (dtype) {
  case Dtype::f32: return call(float{});
  case Dtype::f16: return call(f16{});
  case Dtype::bf16: return call(bf16{});
  default: fail("models: no layers of " + std::string(name(dtype)));
  }
}

// Rounded to the nearest, halves to even; and back.
std::vector<std::byte> encoded(std::span<const float> values, Dtype dtype);
std::vector<float> decoded(std::span<const std::byte> bytes, Dtype dtype);

} // namespace kg::models
