// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/suite.h"

#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::perf {
namespace {

using testing::HasSubstr;

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Shape, GivesNumbersAndWords) {
  const Shape shape = Shape::parse("m128_n0_k4096_nt");
  EXPECT_EQ(shape.text(), "m128_n0_k4096_nt");
  EXPECT_EQ(shape.number("m"), 128);
  EXPECT_EQ(shape.number("n"), 0);
  EXPECT_EQ(shape.number("k"), 4096);
  EXPECT_EQ(shape.word({"nn", "nt", "tn", "tt"}), 1u);
  EXPECT_NO_THROW(shape.require_all_used());
}

TEST(Shape, MayLackWords) {
  const Shape shape = Shape::parse("m128_nt_tf32");
  EXPECT_FALSE(shape.has("tf"));
  EXPECT_EQ(shape.number("m"), 128);
  EXPECT_EQ(shape.word({"nt"}), 0u);
  EXPECT_THAT(error_of([&] { shape.require_all_used(); }), HasSubstr("'tf32' is not a parameter"));
  EXPECT_TRUE(shape.has("tf32"));
  EXPECT_NO_THROW(shape.require_all_used());
}

TEST(Shape, KeyIsAllThatStandsBeforeTheDigits) {
  const Shape shape = Shape::parse("ldx7_x3");
  EXPECT_EQ(shape.number("x"), 3);
  EXPECT_EQ(shape.number("ldx"), 7);
  EXPECT_THAT(error_of([&] { shape.number("ld"); }), HasSubstr("lacks 'ld'"));
}

TEST(Shape, OfABatchGrowsWithItsRows) {
  EXPECT_EQ(batch_of("rows*_cols8", 3), "rows3_cols8");
  EXPECT_EQ(batch_of("sum_n41*_k41", 2), "sum_n82_k41");
  EXPECT_EQ(batch_of("b1_h2*_kv*_q1", 33), "b1_h66_kv33_q1");
  EXPECT_THAT(error_of([] { batch_of("rows3_cols8", 3); }), HasSubstr("put a '*' behind"));
}

TEST(Shape, RefusesTextThatIsNoId) {
  EXPECT_THAT(error_of([] { Shape::parse("m-5"); }), HasSubstr("holds '-'"));
  EXPECT_THAT(error_of([] { Shape::parse("m5 n6"); }), HasSubstr("holds ' '"));
  EXPECT_THAT(error_of([] { Shape::parse(""); }), HasSubstr("empty part"));
  EXPECT_THAT(error_of([] { Shape::parse("m5__n6"); }), HasSubstr("empty part"));
  EXPECT_THAT(error_of([] { Shape::parse("m5_"); }), HasSubstr("empty part"));
}

TEST(Shape, RefusesWhatIsNoNumber) {
  EXPECT_THAT(error_of([] { Shape::parse("n5x").number("n"); }), HasSubstr("'5x' is not a whole"));
  EXPECT_THAT(error_of([] { Shape::parse("n1.5").number("n"); }),
              HasSubstr("'1.5' is not a whole"));
  EXPECT_THAT(error_of([] { Shape::parse("n99999999999999999999").number("n"); }),
              HasSubstr("is not a whole number"));
  EXPECT_THAT(error_of([] { Shape::parse("n").number("n"); }), HasSubstr("lacks 'n'"));
  EXPECT_THAT(error_of([] { Shape::parse("n1_n2").number("n"); }), HasSubstr("'n' twice"));
}

TEST(Shape, SeveralNumbersBehindOneKey) {
  const Shape shape = Shape::parse("outer3_p1.0.4_n5");
  EXPECT_THAT(shape.numbers("p"), testing::ElementsAre(1, 0, 4));
  EXPECT_THAT(shape.numbers("n"), testing::ElementsAre(5));
  for (const char* const wrong : {"p1..4", "p1.4.", "p1.x", "p.1"})
    EXPECT_THAT(error_of([&] { Shape::parse(wrong).numbers("p"); }), testing::Ne("no error"))
        << wrong;
  EXPECT_THAT(error_of([] {
                const Shape many = Shape::parse("m137438953472_p1048576.1048577");
                many.number("m");
                many.numbers("p");
              }),
              HasSubstr("too large"))
      << "2^37 (2^21 + 1): an axis is as long as its parts together";
}

TEST(Shape, RefusesNumbersThatMultiplyBeyondSixtyFourBits) {
  const auto volume = [](const char* text) {
    return error_of([&] {
      const Shape shape = Shape::parse(text);
      shape.number("m");
      shape.number("n");
      shape.number("m"); // asked for again, it counts once
    });
  };
  EXPECT_EQ(volume("m1048576_n274877906944"), "no error") << "2^20 2^38 = 2^58";
  EXPECT_EQ(volume("m1048576_n274877906945"),
            "shape 'm1048576_n274877906945' is too large: its numbers multiply to more than 2^58; "
            "make 'n274877906945' smaller");
  EXPECT_EQ(volume("m0_n274877906945"), "no error") << "nothing has no size";
}

TEST(Shape, RefusesNoneOrSeveralWords) {
  EXPECT_THAT(error_of([] {
                Shape::parse("n5").word({"add", "mul"});
              }),
              HasSubstr("none of: add, mul"));
  EXPECT_THAT(error_of([] {
                Shape::parse("add_mul").word({"add", "mul"});
              }),
              HasSubstr("several of: add, mul"));
}

TEST(Shape, NamesWhatNobodyAskedFor) {
  const Shape shape = Shape::parse("add_n5_q7");
  shape.word({"add"});
  shape.number("n");
  EXPECT_THAT(error_of([&] { shape.require_all_used(); }), HasSubstr("'q7' is not a parameter"));
}

TEST(CaseId, JoinsOpTypeAndShape) {
  Operation operation;
  operation.name = "gemm";
  EXPECT_EQ(case_id(operation, Dtype::bf16, "m1_nn"), "gemm.bf16.m1_nn");
}

} // namespace
} // namespace kg::perf
