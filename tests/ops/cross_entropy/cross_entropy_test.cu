// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to cross_entropy; its card configures those of every operation.
#include "ops/cross_entropy/cross_entropy.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/refusing.h"
#include "tests/contract/row_tests.h"
#include "tests/contract/rows.h"
#include "tests/ops/cross_entropy/objective.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

using namespace cross_entropy_cases;

KG_OWN_TEST(ManyRows) { check_many_rows(judge); }

KG_OWN_TEST(RowsAreIndependent) {
  for (const char* const shape : {"rows9_cols256", "rows5_cols2048_smooth_z_i64"})
    check_rows_are_independent(judge, shape);
}

// Adding a number to a row shifts lse by that number, and changes no bit of the loss, which
// consists only of differences.
KG_OWN_TEST(LossIgnoresShifts) {
  for (const char* const shape : {"rows9_cols256_smooth", "rows5_cols2051"}) {
    const Form form = grammar().parse(shape);
    std::vector<double> x =
        test::integers(judge.dtype(), form.rows * form.classes, 20, test::Tensor::a).values;
    const Sample sample{"integers", shape, {{"x", values(judge.dtype(), x)}}};
    for (double& each : x) each += 64;
    const Sample moved{"moved", shape, {{"x", values(judge.dtype(), x)}}};
    judge.each_variant(sample, [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, moved).bits("loss"),
                judge.run(variant.name, sample).bits("loss"))
          << variant.name;
    });
  }
}

// The loss does not depend on whether lse is requested. Passing the same loss twice adds nothing.
KG_OWN_TEST(LogSumIsOptional) {
  for (const char* const shape : {"rows9_cols300", "rows6_cols2051_smooth_z_ignored"}) {
    const Sample with{"normal", shape};
    Sample without = with;
    without.without = {"log_sum"};
    judge.each_variant(with, [&](const Variant& variant) {
      EXPECT_EQ(judge.run(variant.name, without).bits("loss"),
                judge.run(variant.name, with).bits("loss"))
          << variant.name;
    });
  }
}

// If every row is ignored, all results are +0, for any logits.
KG_OWN_TEST(AllRowsIgnored) {
  for (const std::int64_t classes : {300, 2051}) {
    constexpr std::int64_t kRows = 7;
    Sample sample{"NaN", rows_cols(kRows, classes) + "_smooth_z_i64"};
    sample.inputs = {
        {"x", values(judge.dtype(), std::vector<double>(static_cast<std::size_t>(kRows * classes),
                                                        std::numeric_limits<double>::quiet_NaN()))},
        {"target",
         targets(grammar().parse(sample.shape), std::vector<std::int64_t>(kRows, kIgnored))}};
    judge.each_variant(sample, [&](const Variant& variant) {
      const Outcome outcome = judge.run(variant.name, sample);
      for (const char* const output : {"loss", "log_sum"})
        EXPECT_EQ(outcome.bits(output), std::vector<std::uint64_t>(kRows, 0)) << variant.name;
    });
  }
}

// The loss of one row of kClasses logits that are all 0.
constexpr std::int64_t kClasses = 1500;
template <class T, class Target>
float loss_of(Target target, std::int64_t ignored, cross_entropy::Variant variant, Stream& stream) {
  const auto x = DeviceBuffer<T>::from_host(std::vector<T>(kClasses), stream);
  const auto targets = DeviceBuffer<Target>::from_host(std::vector<Target>{target}, stream);
  const DeviceBuffer<float> loss(1);
  cross_entropy::run<T>({.rows = 1,
                         .classes = kClasses,
                         .logits = x.data(),
                         .logits_stride = kClasses,
                         .objective = {.target = targets.data(), .ignored = ignored},
                         .loss = loss.data()},
                        variant, stream);
  stream.synchronize();
  return loss.to_host(stream)[0];
}
constexpr std::int64_t kWide = std::int64_t{1} << 32;

// As for padding in texts.
KG_OWN_TEST(AClassMayBeIgnored) {
  dispatch(judge.dtype(), [&]<class T>() {
    for (const cross_entropy::Variant variant : cross_entropy::kVariants) {
      EXPECT_EQ(loss_of<T>(std::int32_t{7}, 7, variant, judge.stream()), 0) << name(variant);
      EXPECT_NEAR(loss_of<T>(std::int64_t{7}, 7 + kWide, variant, judge.stream()),
                  std::log(kClasses), 1e-5)
          << name(variant);
    }
  });
}

// No kernel reads memory through an out-of-range target.
KG_OWN_TEST(TargetOutOfRangeTraps) {
  if (backend == Backend::cuda) GTEST_SKIP() << "a trap takes the process's context with it";
  dispatch(judge.dtype(), [&]<class T>() {
    for (const cross_entropy::Variant variant : cross_entropy::kVariants)
      for (const std::int64_t wrong : {std::int64_t{-1}, kClasses, kWide + 1, 1 - kWide}) {
        const std::string text =
            error_of([&] { loss_of<T>(wrong, kIgnored, variant, judge.stream()); });
        EXPECT_NE(text.find("__trap() was called"), std::string::npos)
            << name(variant) << ", target " << wrong << ": " << text;
      }
  });
}

KG_OWN_TEST(RefusesRowsWithoutClasses) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> x(8);
    const DeviceBuffer<float> loss(8);
    const DeviceBuffer<std::int32_t> target(8);
    LaunchRecorder recorder;
    EXPECT_THROW(cross_entropy::run<T>({.rows = 2,
                                        .logits = x.data(),
                                        .objective = {.target = target.data()},
                                        .loss = loss.data()},
                                       cross_entropy::Variant::automatic, judge.stream()),
                 Error);
    EXPECT_TRUE(recorder.launches().empty());
  });
}

KG_OWN_TEST(Automatic) {
  using cross_entropy::Variant;
  for (const auto& [classes, right] :
       {std::pair{cross_entropy::kWarpMaxClasses, Variant::warp},
        std::pair{cross_entropy::kWarpMaxClasses + 1, Variant::block}}) {
    EXPECT_EQ(cross_entropy::resolved(Variant::automatic, classes), right);
    EXPECT_EQ(cross_entropy::chain(Variant::automatic, classes),
              cross_entropy::chain(right, classes));
  }
}

} // namespace
} // namespace kg::card
