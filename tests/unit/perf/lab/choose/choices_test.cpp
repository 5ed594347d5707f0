// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/choose/choices.h"

#include "runtime/error.h"
#include "tests/unit/perf/judge/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::choose::test {
namespace {

using judge::Mode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

judge::Measured timed(const std::string& shape, const std::string& variant, double ns,
                      Mode mode = Mode::cold) {
  return judge::test::measured(ns, {"gemm.f16." + shape, variant, mode});
}

judge::Results run(std::vector<judge::Measured> rows) {
  return {{{"device", "nvidia-h200"}}, std::move(rows)};
}

TEST(Choices, TheFastestOfOursWins) {
  judge::Measured vendor = timed("m64_n32_k8_nn", "cublas", 10);
  vendor.kind = judge::Kind::vendor;
  const judge::Results measured =
      run({timed("m64_n32_k8_nn", "mma", 1500), timed("m64_n32_k8_nn", "naive", 1200), vendor});
  EXPECT_THAT(lines(measured, "gemm", Mode::cold),
              ElementsAre("{\"nvidia-h200\", Dtype::f16, {.m = 64, .n = 32, .k = 8}, \"nn\", "
                          "Variant::naive}, // naive 1.2 us, mma 1.5 us"));
}

TEST(Choices, WordsOfTheShapeStayText) {
  const auto found = lines(run({timed("b4_m64_n32_k8_tt_tf32", "mma", 1000)}), "gemm", Mode::cold);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], HasSubstr("{.b = 4, .m = 64, .n = 32, .k = 8}, \"tt_tf32\","));
}

TEST(Choices, WrongSkippedAndOtherRowsAreNotChosen) {
  judge::Measured wrong = timed("m8_n8_k8_nn", "mma", 1),
                  skipped = timed("m8_n8_k8_nn", "tiled", 1);
  wrong.verified = "3 elements are wrong";
  skipped.samples_ns.clear();
  judge::Measured other = judge::test::measured(1, {"copy.f16.m8_n8_k8_nn", "fast", Mode::cold});
  const judge::Results measured =
      run({wrong, skipped, other, timed("m8_n8_k8_nn", "hot", 1, Mode::hot),
           timed("m8_n8_k8_nn", "naive", 900)});
  const auto found = lines(measured, "gemm", Mode::cold);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], HasSubstr("Variant::naive}, // naive 900 ns"));
}

TEST(Choices, NothingToChooseFromIsAnError) {
  EXPECT_THROW(lines(run({timed("m8_n8_k8_nn", "mma", 1)}), "gemm", Mode::graph), Error);
  EXPECT_THROW(lines({{}, {timed("m8_n8_k8_nn", "mma", 1)}}, "gemm", Mode::cold), Error);
}

TEST(Choices, OtherDevicesKeepTheirLines) {
  const std::string h200 = "{\"nvidia-h200\", old}, // a", a100 = "{\"nvidia-a100\", kept}, // b";
  const std::string text =
      with_lines("// header\n" + h200 + "\n" + a100 + "\n", {"{\"nvidia-h200\", new}, // c"});
  EXPECT_THAT(text, testing::AllOf(HasSubstr(a100 + "\n{\"nvidia-h200\", new}, // c\n"),
                                   Not(HasSubstr("old")), Not(HasSubstr("// header"))));
  EXPECT_EQ(with_lines(text, {"{\"nvidia-h200\", new}, // c"}), text);
}

} // namespace
} // namespace kg::choose::test
