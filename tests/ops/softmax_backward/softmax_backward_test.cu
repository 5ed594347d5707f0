// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to softmax_backward; its card configures those of every operation.
#include "ops/softmax_backward/softmax_backward.h"

#include "tests/contract/own_test.h"
#include "tests/contract/row_tests.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

KG_OWN_TEST(ManyRows) { check_many_rows(judge); }

KG_OWN_TEST(RowsAreIndependent) {
  for (const auto& [rows, cols] : {std::pair{9, 256}, std::pair{5, 2048}})
    check_rows_are_independent(judge, rows_cols(rows, cols));
}

// The gradient of a constant is 0: softmax is invariant to shifts of dy, bit for bit if all
// operations are exact.
KG_OWN_TEST(ShiftInvariance) {
  for (const auto& [rows, cols] : {std::pair{9, 256}, std::pair{5, 2048}}) {
    const std::vector<double> dy =
        test::integers(judge.dtype(), rows * cols, 50, test::Tensor::b).values;
    const std::vector<double> y(dy.size(), 1.0 / cols);
    std::vector<double> moved = dy;
    for (double& value : moved) value += 60;
    const std::string shape = rows_cols(rows, cols);
    const auto sample = [&](const std::vector<double>& gradient) {
      return Sample{"integers",
                    shape,
                    {{"y", values(judge.dtype(), y)}, {"dy", values(judge.dtype(), gradient)}}};
    };
    judge.each_variant(sample(dy), [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, sample(moved)).bits("dx"),
                judge.run(variant.name, sample(dy)).bits("dx"))
          << variant.name;
    });
  }
}

KG_OWN_TEST(Automatic) {
  using softmax_backward::Variant;
  for (const auto& [cols, right] :
       {std::pair{softmax_backward::kWarpMaxCols, Variant::warp},
        std::pair{softmax_backward::kWarpMaxCols + 1, Variant::block}}) {
    EXPECT_EQ(softmax_backward::resolved(Variant::automatic, cols), right);
    EXPECT_EQ(softmax_backward::chain(Variant::automatic, cols),
              softmax_backward::chain(right, cols));
  }
}

} // namespace
} // namespace kg::card
