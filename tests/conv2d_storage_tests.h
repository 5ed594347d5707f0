// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For conv2d_test.cu: arrays that begin at every place between two 16-byte words, with nothing
// written in front of them, and numbers below the normal ones.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/conv2d_fixture.h"

namespace kg::test {
namespace {

// What an access of 16 bytes would reach outside an array was never written, or belongs to nobody:
// the checkers see a read of it, the hygiene a write. One array misaligned, then all.
TYPED_TEST(Conv2dTest, EveryMisalignment) {
  constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(TypeParam));
  for (const Geometry& g : in_both_layouts({{1, 16, 3, 5, 64, {}, {}},
                                            {1, 8, 3, 5, 8, kThree, {}},
                                            {1, 8, 3, 6, 8, {}, kThree, 8}}))
    for (std::int64_t by = 1; by < kPack; ++by)
      for (const Offsets offsets :
           {Offsets{by, 0, 0, 0}, Offsets{0, by, 0, 0}, Offsets{0, 0, by, 0}, Offsets{0, 0, 0, by},
            Offsets{by, by, by, by}})
        this->check_exact(g, ProductRange::r1, offsets);
}

// Subnormal numbers times 1, 0 and -1, in sums that stay subnormal and so are exact: a flush to
// zero of either factor, of the bias, of a product or of a sum shows.
TYPED_TEST(Conv2dTest, Subnormals) {
  constexpr Dtype kDtype = DtypeOf<TypeParam>::value;
  constexpr std::int64_t kMostProducts = 72;
  const double least = min_subnormal(kDtype);
  const auto normals = static_cast<std::int64_t>(0.5 / unit_roundoff(kDtype)); // times least
  const std::int64_t most = normals / (kMostProducts + 1);
  const auto subnormal = [&](std::int64_t count, Tensor tensor) {
    std::vector<double> values = integers(kDtype, count, most, tensor).values;
    for (double& value : values) value *= least;
    return values;
  };
  for (const Geometry& g : in_both_layouts({{1, 8, 4, 6, 16, kThree, kThree},
                                            {2, 64, 3, 5, 64, {}, {}},
                                            {1, 8, 5, 6, 8, kThree, kThree, 8},
                                            {1, 8, 4, 6, 16, kThree, {.kernel = 2}, 4}})) {
    const std::vector<double> bias = subnormal(g.out_channels, Tensor::c);
    this->check_exact(g, {"subnormal x", subnormal(g.inputs(), Tensor::a),
                          integers(kDtype, g.weights(), 1, Tensor::b).values, bias});
    this->check_exact(g, {"subnormal weights", integers(kDtype, g.inputs(), 1, Tensor::a).values,
                          subnormal(g.weights(), Tensor::b), bias});
  }
}

} // namespace
} // namespace kg::test
