// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to softmax; its card configures those of every operation.
#include "ops/softmax/softmax.h"

#include "runtime/device.h"
#include "tests/contract/own_test.h"
#include "tests/contract/row_tests.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

Sample sample(Dtype dtype, std::int64_t rows, std::vector<double> x) {
  const std::int64_t cols = std::ssize(x) / rows;
  return {"integers", rows_cols(rows, cols), {{"x", values(dtype, std::move(x))}}};
}

KG_OWN_TEST(ManyRows) { check_many_rows(judge); }
KG_OWN_TEST(RowsTakeTurns) {
  check_rows_take_turns(judge);
  // Longer rows, with as many blocks as SMs, and with clusters.
  const std::int64_t rows = 2 * device_properties().sm_count + 3;
  for (const std::int64_t bytes : {32768, 41040, 73744, 131120})
    judge.check(
        {"normal", rows_cols(rows, bytes / static_cast<std::int64_t>(size_of(judge.dtype())))}, {},
        {"block"});
}

// Integers shifted by an integer: every difference is exact, so no bit may change.
KG_OWN_TEST(ShiftInvariance) {
  const auto beyond_shared =
      static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin / 4) + 7;
  for (const Size size : {Size{20, 500}, Size{3, 2500}, Size{1, beyond_shared}}) {
    const std::vector<double> x =
        test::integers(judge.dtype(), size.rows * size.cols, 20, test::Tensor::a).values;
    std::vector<double> moved = x;
    for (double& value : moved) value -= 100;
    judge.each_variant(sample(judge.dtype(), size.rows, x), [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, sample(judge.dtype(), size.rows, moved)).bits("y"),
                judge.run(variant.name, sample(judge.dtype(), size.rows, x)).bits("y"))
          << variant.name;
    });
  }
}

KG_OWN_TEST(RowsAreIndependent) {
  for (const auto& [rows, cols] : {std::pair{9, 300}, std::pair{5, 2500}})
    check_rows_are_independent(judge, rows_cols(rows, cols));
}

} // namespace
} // namespace kg::card
