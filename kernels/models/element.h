// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps a Dtype to its C++ type, and converts between floats and stored elements.
#pragma once

#include "runtime/device_code.h"
#include "runtime/error.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kg::models {

// Returns call(T{}), where T is the floating-point type that `dtype` names.
template <class Call>
auto with_element(Dtype dtype, const Call& call) {
  switch (dtype) {
  case Dtype::f32: return call(float{});
  case Dtype::f16: return call(f16{});
  case Dtype::bf16: return call(bf16{});
  default: fail("models: no layers of " + std::string(name(dtype)));
  }
}

// `encoded` rounds to nearest, ties to even.
std::vector<std::byte> encoded(std::span<const float> values, Dtype dtype);
std::vector<float> decoded(std::span<const std::byte> bytes, Dtype dtype);

} // namespace kg::models
