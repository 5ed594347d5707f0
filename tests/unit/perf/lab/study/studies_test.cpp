// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of studies.
#include "perf/lab/study/study.h"

#include "perf/judge/row.h"
#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kg::study {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Point> points(const std::string& name, const Settings& given = {}) {
  const Study& study = named(name);
  return study.points(completed(study, given));
}

std::vector<double> sizes(const std::vector<Point>& points) {
  std::vector<double> result;
  for (const Point& point : points) result.push_back(point.size);
  return result;
}

TEST(Studies, HaveDistinctPointsThatNameCases) {
  for (const Study& study : studies()) {
    std::set<std::string> cases;
    for (const Point& point : points(study.name)) {
      // Groups may share a point: what each of them begins with.
      EXPECT_TRUE(cases.insert(point.group + " " + point.case_id).second) << point.case_id;
      EXPECT_EQ(judge::dtype_of(point.case_id), "f32") << point.case_id;
      EXPECT_GT(point.size, 0) << point.case_id;
      EXPECT_FALSE(point.label.empty()) << point.case_id;
    }
    EXPECT_GE(cases.size(), 2u) << study.name;
  }
}

TEST(Studies, ModelsAreNamedByWhatRuns) {
  const std::vector<Point> scaled = points("mlp", {{"dim", "8"}, {"batch", "4"}, {"to", "3"}});
  ASSERT_EQ(scaled.size(), 12u);
  EXPECT_EQ(scaled[0].case_id, "model.f32.mlp_dim8_layers4_batch4_training_steps2");
  EXPECT_EQ(scaled[2].case_id, "model.f32.mlp_dim8_layers4_batch4_training_steps6");
  EXPECT_EQ(scaled[11].case_id, "model.f32.mlp_dim24_layers4_batch4_training_steps2");
  EXPECT_EQ(scaled[11].group, "dim");
  EXPECT_THROW(points("mlp", {{"to", "2"}}), Error);
  const std::vector<Point> networks = points("fps", {{"network", "resnet18"}, {"batch", "1,8"}});
  ASSERT_EQ(networks.size(), 2u);
  EXPECT_EQ(networks[1].case_id, "model.f32.resnet18_batch8_size224_nhwc_inference");
  EXPECT_EQ(networks[1].size, 8);
}

TEST(Studies, SweepOverSizes) {
  EXPECT_THAT(sizes(points("vector_add", {{"max-size", "102400"}})),
              ElementsAre(16, 64, 256, 1024, 4096, 10240, 16384, 65536, 102400));
  EXPECT_THAT(sizes(points("matmul", {{"max-size", "100"}})), ElementsAre(16, 32, 64));
  EXPECT_EQ(points("matmul", {{"max-size", "16"}, {"dtype", "bf16"}}).front().case_id,
            "gemm.bf16.m16_n16_k16_nn");
  const std::vector<Point> attended =
      points("attention", {{"max-size", "32"}, {"heads", "3"}, {"depth", "80"}});
  EXPECT_THAT(sizes(attended), ElementsAre(16, 32));
  EXPECT_EQ(attended.back().case_id, "attention.f32.b1_h3_q32_k32_d80");
  EXPECT_EQ(named("attention").scaling->exponent, 2);
  EXPECT_THAT(sizes(points("relu")), ElementsAre(1 << 20, 1 << 22));
}

TEST(Studies, ShapesOfProductsAreCurvesOverK) {
  const std::vector<Point> all =
      points("matmul_shapes", {{"m", "1,64"}, {"n", "8"}, {"k", "16,32"}});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].case_id, "gemm.f32.m1_n8_k32_nn");
  EXPECT_EQ(all[1].group, "1x8");
  EXPECT_EQ(all[1].size, 32);
  EXPECT_EQ(all[2].group, "64x8");
}

TEST(Studies, ConvolveEveryInputByEveryKernel) {
  const std::vector<Point> all = points("conv");
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(all[1].case_id, "conv2d.f32.nchw_n2_c4_h32_w32_o8_k5_s1_p2_g1");
  EXPECT_EQ(all[1].label, "32x32, kernel 5x5");
  EXPECT_EQ(all[1].result, "2x8x32x32");
  EXPECT_EQ(all[1].group, "kernel 5x5");
  EXPECT_EQ(points("conv", {{"input", "16"}, {"kernel", "2"}, {"batch", "1"}}).front().result,
            "1x8x17x17");
}

TEST(Studies, EachKernelOfTheTritonReportHasItsRow) {
  std::set<std::string> groups;
  for (const Point& point : points("triton")) groups.insert(point.group);
  EXPECT_THAT(groups, testing::UnorderedElementsAre("vector add", "matmul", "relu", "softmax-sum",
                                                    "separable convolution", "pooling"));
  EXPECT_THAT(sizes(points("triton", {{"matmul", "2048"}})),
              ElementsAre(1024, 10240, 102400, 2048, 1048576, 4194304, 65536, 28, 32));
}

TEST(Studies, GradesAreOfTheCategoriesThatAreAskedFor) {
  std::set<std::string> groups;
  for (const Point& point : points("grades")) groups.insert(point.group);
  EXPECT_EQ(groups.size(), 5u);
  const std::vector<Point> memory = points("grades", {{"category", "memory"}, {"n", "64"}});
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory.front().case_id, "transpose.f32.rows64_cols64");
  EXPECT_THAT(
      [&] {
        points("grades", {{"category", "memory,colour"}});
      },
      ThrowsMessage<Error>(HasSubstr("unknown category 'colour'")));
}

TEST(Studies, BadSettingsAreNamed) {
  for (const char* bad : {"", "x", "0", "-1", "1,", "1.5", "99999999999999999999"})
    EXPECT_THAT(
        [&] {
          points("conv", {{"input", bad}});
        },
        ThrowsMessage<Error>(AllOf(HasSubstr("--input"), HasSubstr("whole number"))))
        << bad;
  EXPECT_THAT(
      [&] {
        points("conv", {{"batch", "1,2"}});
      },
      ThrowsMessage<Error>(HasSubstr("--batch 1,2: give one number")));
  EXPECT_THAT(
      [&] {
        points("conv", {{"kernel", "3,5,3"}});
      },
      ThrowsMessage<Error>(HasSubstr("--kernel 3,5,3: 3 is there twice")));
  EXPECT_THAT(
      [&] {
        points("matmul", {{"max-size", "8"}});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("--max-size 8"), HasSubstr("16"))));
  EXPECT_THAT([&] { named("mul"); }, ThrowsMessage<Error>(HasSubstr("vector_add, relu, matmul")));
}

} // namespace
} // namespace kg::study
