// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of rmsnorm_backward and layernorm_backward beyond the contract.
#pragma once

#include "ops/normalization/backward_variants.h"
#include "runtime/clusters.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/row_tests.h"
#include "tests/contract/rows.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card::norm_backward {

inline void check_automatic() {
  namespace backward = normalization::backward;
  using backward::Variant;
  const Variant for_long = device_has_clusters() ? Variant::cluster : Variant::block;
  for (const auto& [cols, right] : {std::pair{backward::kWarpMaxCols, Variant::warp},
                                    std::pair{backward::kWarpMaxCols + 1, Variant::block},
                                    std::pair{backward::kBlockMaxCols, Variant::block},
                                    std::pair{backward::kBlockMaxCols + 1, for_long},
                                    std::pair{backward::kClusterMaxCols + 1, Variant::block}}) {
    EXPECT_EQ(backward::resolved(Variant::automatic, cols), right);
    EXPECT_EQ(backward::row_chain(Variant::automatic, cols), backward::row_chain(right, cols));
    EXPECT_EQ(backward::column_chain(Variant::automatic, 9, cols),
              backward::column_chain(right, 9, cols));
  }
}

// Rows are independent; and many rows per warp, but not per block, because emulating blocks is
// slow.
inline void check_rows(Judge& judge) {
  for (const auto& [rows, cols] : {std::pair{9, 300}, std::pair{5, 1300}})
    check_rows_are_independent(judge, rows_cols(rows, cols));
  judge.check({"normal", rows_cols(4099, 3)}, {}, {"naive", "warp"});
}

// Indices beyond 32 bits, dx in place of dy. dy is 0 except for three rows of +2 and -2 with sum 0:
// dx is rstd dy. n is x / 2 everywhere, so each row contributes +x and -x to dgamma.
inline void check_more_than_2_to_31(Judge& judge) {
  dispatch(judge.dtype(), [&]<class T>() {
    constexpr std::int64_t kCols = 512;
    constexpr std::int64_t kRows = (std::int64_t{1} << 31) / kCols + 3;
    // A thread of the plain kernel sums a column over all rows, so no window can be shorter.
    KG_SKIP_IF_TOO_HUGE(2 * kRows * kCols * sizeof(T));
    Problem problem = problem_of(judge.card(), judge.dtype(), {"huge", rows_cols(kRows, kCols)});
    problem = problem.without("gamma");
    for (const Tensor& output : std::vector<Tensor>(problem.outputs))
      if (output.name == "dbeta") problem = problem.without("dbeta");
    Stream& stream = judge.stream();
    constexpr unsigned char kByte = 0x3C; // a normal number of each type
    const double filled =
        test::to_double(test::from_raw_bits<T>(0x3C3C3C3Cu & test::poison_bits(judge.dtype())));
    const auto value = [](double of) { return test::elements<T>(std::vector<double>{of})[0]; };
    const auto count = static_cast<std::size_t>(kRows * kCols);
    const auto mean = DeviceBuffer<float>::from_host(std::vector<float>(kRows, 0.0F), stream);
    const auto rstd = DeviceBuffer<float>::from_host(std::vector<float>(kRows, 0.5F), stream);
    const DeviceBuffer<T> x(count);
    fill_bytes(x.data(), kByte, x.bytes(), stream);
    for (const Variant& variant : judge.card().variants) {
      if (!variant.supports(problem)) continue;
      const DeviceBuffer<T> dy(count), dgamma(kCols);
      fill_bytes(dy.data(), 0, dy.bytes(), stream);
      test::Marks<T> before, after;
      for (const std::int64_t row : {std::int64_t{0}, kRows - 3, kRows - 1})
        for (std::int64_t i = row * kCols; i < (row + 1) * kCols; ++i) {
          before[i] = value(i % 2 ? -2 : 2);
          after[i] = value(i % 2 ? -1 : 1);
        }
      test::put(before, dy, stream);
      Call call(problem);
      for (const Tensor& input : problem.inputs)
        if (input.name == "mean") call.bind("mean", mean.data());
      call.bind("x", x.data());
      call.bind("rstd", rstd.data());
      call.bind("dgamma", dgamma.data());
      for (const char* const each : {"dy", "dx"}) call.bind(each, dy.data());
      variant.run(call, stream);
      EXPECT_TRUE(test::holds(dy, value(0), after, stream)) << variant.name;
      const double sum = test::round_to(judge.dtype(), static_cast<float>(3 * filled));
      const auto sums = dgamma.to_host(stream);
      for (std::size_t j = 0; j < sums.size(); ++j)
        EXPECT_EQ(test::to_double(sums[j]), j % 2 ? -sum : sum) << variant.name << ", " << j;
    }
  });
}

// Calls run(variant, workspace) on a small problem.
template <class Run>
void check_refuses_workspaces(Run run) {
  using normalization::backward::Variant;
  const DeviceBuffer<float> workspace(4096);
  LaunchRecorder recorder;
  EXPECT_THROW(run(Variant::warp, nullptr), Error);
  EXPECT_THROW(run(Variant::block, workspace.data() + 1), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace kg::card::norm_backward
