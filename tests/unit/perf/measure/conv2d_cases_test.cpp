// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The timed cases of conv2d with and without a bias: in either, ours and the libraries' compute
// what the case says.
#include "perf/measure/card_operation.h"
#include "runtime/stream.h"

#include <gtest/gtest.h>
#include <string>

namespace kg::card {
const Card& conv2d();
}

namespace kg::perf {

namespace {

class Conv2dCases : public testing::TestWithParam<std::string> {};

TEST_P(Conv2dCases, EveryVariantComputesWhatTheCaseSays) {
  const Shape shape = Shape::parse("nchw_n1_c2_h6_w6_o3_k3_s1_p1_g1" + GetParam());
  const Case described = card_operation(card::conv2d()).make(Dtype::f32, shape);
  shape.require_all_used();
  EXPECT_GE(described.variants.size(), 2u);
  Stream stream;
  for (const Variant& variant : described.variants) {
    if (variant.name == "jit") continue; // compiles for seconds
    SCOPED_TRACE(variant.name);
    const Workload workload = variant.make();
    workload.poison(stream);
    EXPECT_NE(workload.verify(stream), "") << "before it ran";
    workload.run(stream);
    EXPECT_EQ(workload.verify(stream), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Bias, Conv2dCases, testing::Values("", "_nobias"));

} // namespace
} // namespace kg::perf
