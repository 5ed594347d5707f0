// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For conv2d_backward_test.cu: arrays that begin at every place between two 16-byte words, with
// nothing written in front of them, and numbers below the normal ones.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/conv2d_backward_fixture.h"

namespace kg::test {
namespace {

// What an access of 16 bytes would reach outside an array was never written, or belongs to nobody:
// the checkers see a read of it, the hygiene a write. One array misaligned, then all.
TYPED_TEST(Conv2dBackwardTest, EveryMisalignment) {
  constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(TypeParam));
  for (const Geometry& g :
       in_both_layouts({{1, 16, 3, 5, 16, {}, kThree}, {1, 8, 3, 6, 8, {}, kThree, 8}}))
    for (std::int64_t by = 1; by < kPack; ++by)
      for (const Offsets offsets :
           {Offsets{by, 0, 0}, Offsets{0, by, 0}, Offsets{0, 0, by}, Offsets{by, by, by}})
        this->check_exact(g, ProductRange::r1, offsets);
}

// Subnormal numbers times 1, 0 and -1, in sums that stay subnormal and so are exact: a flush to
// zero of either factor, of a product, of a part or of a sum shows.
TYPED_TEST(Conv2dBackwardTest, Subnormals) {
  constexpr Dtype kDtype = DtypeOf<TypeParam>::value;
  constexpr std::int64_t kMostProducts = 127;
  const double least = min_subnormal(kDtype);
  const auto normals = static_cast<std::int64_t>(0.5 / unit_roundoff(kDtype)); // times least
  const std::int64_t most = normals / (kMostProducts + 1);
  const auto ones = [](std::int64_t count, Tensor tensor) {
    return integers(kDtype, count, 1, tensor).values;
  };
  const auto subnormal = [&](std::int64_t count, Tensor tensor) {
    std::vector<double> values = integers(kDtype, count, most, tensor).values;
    for (double& value : values) value *= least;
    return values;
  };
  for (const Geometry& g : in_both_layouts({{2, 16, 4, 6, 8, kThree, kThree},
                                            {1, 16, 5, 8, 64, {}, {}},
                                            {2, 8, 5, 8, 8, kThree, kThree, 8},
                                            {1, 8, 5, 6, 16, kThree, {.kernel = 2}, 4}})) {
    const BackwardData small_dy{"subnormal dy", subnormal(g.outputs(), Tensor::a),
                                ones(g.inputs(), Tensor::b), ones(g.weights(), Tensor::c)};
    const BackwardData small_factors{"subnormal x and weights", ones(g.outputs(), Tensor::a),
                                     subnormal(g.inputs(), Tensor::b),
                                     subnormal(g.weights(), Tensor::c)};
    for (const Gradient gradient : kGradients) {
      this->check_exact(gradient, g, small_dy);
      this->check_exact(gradient, g, small_factors);
    }
  }
}

} // namespace
} // namespace kg::test
