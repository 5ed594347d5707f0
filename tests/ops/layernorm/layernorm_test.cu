// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to layernorm; its card configures those of every operation.
#include "tests/contract/samples.h"
#include "tests/ops/normalization/forward_tests.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

KG_OWN_TEST(Rows) { norm::check_rows(judge); }
KG_OWN_TEST(Automatic) { norm::check_automatic(); }
KG_OWN_TEST(MoreThan2To31Elements) { norm::check_more_than_2_to_31(judge, true); }

// Integers shifted by an integer, in rows whose length is a power of two: means are exact and shift
// by the same amount, so no bit may change.
KG_OWN_TEST(ShiftInvariance) {
  for (const auto& [rows, cols] : {std::pair{20, 512}, std::pair{3, 2048}}) {
    const auto x = test::integers(judge.dtype(), rows * cols, 20, test::Tensor::a).values;
    std::vector<double> moved = x;
    for (double& value : moved) value += 64;
    const std::string shape = rows_cols(rows, cols);
    const auto sample = [&](const std::vector<double>& of) {
      return Sample{"integers", shape, {{"x", values(judge.dtype(), of)}}};
    };
    judge.each_variant(sample(x), [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, sample(moved)).bits("y"),
                judge.run(variant.name, sample(x)).bits("y"))
          << variant.name;
    });
  }
}

} // namespace
} // namespace kg::card
