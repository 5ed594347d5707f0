// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/scale/scale.h"

#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

KG_OWN_TEST(OneIsACopy) {
  const Dtype dtype = judge.dtype();
  const std::vector<double> x = test::normal(dtype, kOdd, test::Tensor::a).values;
  judge.check_against({"normal", "n" + std::to_string(kOdd), {{"x", values(dtype, x)}}, {{"a", 1}}},
                      {{"y", {x, {}}}});
}

} // namespace
} // namespace kg::card
