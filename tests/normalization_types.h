// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the normalisations and of their gradients share.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/device_types.h"

namespace kg::test {

struct Size {
  std::int64_t rows;
  std::int64_t cols;
};

// A typed test's parameter: which normalisation, of which elements.
template <typename TheNorm, typename Element>
struct NormOf {
  using Norm = TheNorm;
  using T = Element;
};
struct NormNames {
  template <typename Case>
  static std::string GetName(int) {
    return std::string(name(DtypeOf<typename Case::T>::value));
  }
};
template <typename Norm>
using NormTypes = testing::Types<NormOf<Norm, float>, NormOf<Norm, f16>, NormOf<Norm, bf16>>;

} // namespace kg::test
