// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to layernorm_backward; its card configures those of every operation.
#include "ops/layernorm_backward/layernorm_backward.h"

#include <cmath>

#include "tests/contract/cluster_rows.h"
#include "tests/contract/samples.h"
#include "tests/ops/normalization/backward_tests.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

KG_OWN_TEST(Rows) { norm_backward::check_rows(judge); }
KG_OWN_TEST(Automatic) { norm_backward::check_automatic(); }
KG_OWN_TEST(MoreThan2To31Elements) { norm_backward::check_more_than_2_to_31(judge); }

// After the row's end (0 - mean) rstd is infinite; in the row and its sums everything is finite.
KG_OWN_TEST(StatisticsFarFromTheData) {
  if (judge.dtype() == Dtype::f16) GTEST_SKIP() << "no f16 number is so large";
  const auto of_rows = [](double value) {
    return values(Dtype::f32, std::vector<double>(3, value));
  };
  for (const std::int64_t cols : {std::int64_t{41}, kForCluster - 1}) {
    const auto ones = static_cast<std::size_t>(3 * cols);
    const Sample far{"2^100",
                     rows_cols(3, cols) + "_padded",
                     {{"dy", values(judge.dtype(),
                                    test::normal(judge.dtype(), 3 * cols, test::Tensor::a).values)},
                      {"x", values(judge.dtype(), std::vector<double>(ones, 0x1p100))},
                      {"mean", of_rows(0x1p100)},
                      {"rstd", of_rows(0x1p30)}}};
    judge.each_variant(far, [&](const Variant& variant) {
      for (const double value : judge.run(variant.name, far).outputs.at("dx").values)
        EXPECT_TRUE(std::isfinite(value)) << variant.name << ", " << cols;
    });
  }
}

KG_OWN_TEST(RefusesWorkspaces) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(64);
    const DeviceBuffer<float> statistics(4);
    norm_backward::check_refuses_workspaces([&](auto variant, void* workspace) {
      const auto in = kg::matrix<const T>(data.data(), 4, 8);
      layernorm_backward::run<T>(in, in, nullptr, statistics.data(), statistics.data(),
                                 kg::matrix<T>(data.data(), 4, 8), data.data() + 32, nullptr,
                                 workspace, variant, judge.stream());
    });
  });
}

} // namespace
} // namespace kg::card
