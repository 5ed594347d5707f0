// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/study/analysis.h"

#include "tests/unit/perf/lab/study/study_records.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kg::study {
namespace {

constexpr int kSizes = 8; // 16 to 2048

// A study in which naive has overhead and grows as n^p, tiled has ten times the overhead and a
// tenth of the work, and library takes no time worth mentioning.
Record with_overhead(double p, double overhead = 1e4) {
  return test::record(test::header(kSizes), [=](const std::string& variant, double n) {
    const double work = std::pow(n, p);
    if (variant == "naive") return overhead + work;
    return variant == "tiled" ? 10 * overhead + 0.1 * work : 1 + 1e-9 * n;
  });
}

Curve curve_of(const Record& record, const std::string& variant) {
  for (const Curve& curve : curves(record))
    if (curve.variant == variant) return curve;
  ADD_FAILURE() << "no curve of " << variant;
  return {};
}

TEST(Curves, LeaveOutWhatHasNoTime) {
  Record record = with_overhead(3);
  record.done[0].row.verified = "wrong";
  record.done[0].row.samples_ns.clear();
  record.done.pop_back();
  const std::vector<Curve> all = curves(record);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].variant, "tiled") << "the first that has a time";
  EXPECT_EQ(curve_of(record, "naive").times.size(), kSizes - 1u);
  EXPECT_EQ(curve_of(record, "naive").times.front().size, 32);
  EXPECT_EQ(curve_of(record, "library").kind, judge::Kind::vendor);
}

TEST(Overhead, IsThePlateauAndEndsWhereWorkTakesAsLong) {
  const auto found = overhead(curve_of(with_overhead(3, 1e6), "naive"), 3);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->ns, 1e6, 1e4);
  EXPECT_NEAR(found->until.value(), 100, 15) << "n^3 = 10^6";
  const auto always = overhead(curve_of(with_overhead(3), "library"), 3);
  ASSERT_TRUE(always);
  EXPECT_FALSE(always->until) << "it is overhead at every size";
}

TEST(Overhead, IsNotSeenWhereTimeGrowsFromTheFirstSize) {
  EXPECT_FALSE(overhead(curve_of(with_overhead(3, 0), "naive"), 3));
  Curve one = curve_of(with_overhead(3), "naive");
  one.times.resize(1);
  EXPECT_FALSE(overhead(one, 3));
}

TEST(Fit, FindsTheExponentBeyondTheOverhead) {
  const auto fitted = fit(curve_of(with_overhead(3, 1e6), "naive"), 3);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->exponent, 3, 0.05);
  EXPECT_EQ(fitted->from, 256) << "the first with ten times the overhead";
  EXPECT_EQ(fitted->to, 2048);
  EXPECT_EQ(fitted->sizes, 4u);
  for (const double p : {2.0, 2.5, 3.5})
    EXPECT_NEAR(fit(curve_of(with_overhead(p, 0), "naive"), 3)->exponent, p, 1e-9);
  EXPECT_FALSE(fit(curve_of(with_overhead(3), "library"), 3)) << "no size is beyond it";
}

TEST(Fit, FailsTheStudyOutsideTheTolerance) {
  Study study = named("matmul");
  const auto exit = [&](double p, double overhead) {
    return exit_of_fits(study, curves(with_overhead(p, overhead)));
  };
  EXPECT_EQ(exit(3, 0), 0);
  EXPECT_EQ(exit(3.3, 0), 1);
  EXPECT_EQ(exit(2.7, 0), 1);
  EXPECT_EQ(exit(3, 1e12), 77) << "overhead alone says nothing";
  study.scaling->tolerance = 0;
  EXPECT_EQ(exit(2, 0), std::nullopt);
  study.scaling.reset();
  EXPECT_EQ(exit(2, 0), std::nullopt);
}

TEST(Fit, OfALibraryInforms) {
  const Record record =
      test::record(test::header(kSizes), [](const std::string& variant, double n) {
        return std::pow(n, variant == "library" ? 2 : 3);
      });
  EXPECT_EQ(exit_of_fits(named("matmul"), curves(record)), 0);
}

TEST(Fit, OfALibraryThatIsAloneIsJudgedByAShareOfTheory) {
  const auto exit = [](const std::string& name, double power) {
    Record record = test::record(test::header(kSizes),
                                 [=](const std::string&, double n) { return std::pow(n, power); });
    const auto is_ours = [](const auto& each) { return each.row.kind == judge::Kind::ours; };
    std::erase_if(record.done, is_ours);
    return exit_of_fits(named(name), curves(record));
  };
  EXPECT_EQ(exit("matmul", 2.86), 0);
  EXPECT_EQ(exit("matmul", 2.84), 1) << "5 % of 3 is 0.15";
  EXPECT_EQ(exit("attention", 2.09), 0);
  EXPECT_EQ(exit("attention", 2.11), 1) << "5 % of 2 is 0.1";
  EXPECT_EQ(exit("vector_add", 2), std::nullopt) << "which expects nothing";
}

TEST(Fit, OfALibraryWhoseTimesScatterIsUndecided) {
  Record record = test::record(test::header(kSizes), [](const std::string&, double n) {
    return std::pow(n, 3) * (std::fmod(std::log2(n), 4) < 2 ? 0.5 : 2);
  });
  for (const Curve& curve : curves(record))
    if (curve.variant == "library") {
      const Fit fitted = fit(curve, 3).value();
      const Scaling scaling = expected(named("matmul"), curve);
      EXPECT_GT(std::fabs(fitted.exponent - 3), scaling.tolerance);
      EXPECT_TRUE(within(fitted, scaling)) << fitted.exponent << " ± " << fitted.reach;
    }
}

TEST(Crossovers, LieBetweenSureDifferences) {
  const auto found = crossovers(curves(with_overhead(3, 1e6)));
  ASSERT_EQ(found.size(), 1u) << "the library is the fastest everywhere";
  EXPECT_EQ(found[0].before, "naive");
  EXPECT_EQ(found[0].after, "tiled");
  EXPECT_NEAR(found[0].size, std::cbrt(1e7), 25) << "10^6 + n^3 = 10^7 + n^3 / 10";
}

TEST(Crossovers, DoNotRestOnNoise) {
  // 0.5 % in turn, with intervals of 1 %.
  const Record record = test::record(test::header(4), [](const std::string& variant, double n) {
    const bool odd = static_cast<int>(std::log2(n)) % 2 == 1;
    return n * (variant == "naive" && odd ? 1.005 : variant == "naive" ? 0.995 : 1);
  });
  EXPECT_TRUE(crossovers(curves(record)).empty());
}

} // namespace
} // namespace kg::study
