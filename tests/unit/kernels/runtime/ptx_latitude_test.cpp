// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU may do otherwise (runtime/ptx/isa_latitude.h): within the bounds of the ISA, and not
// where the ISA leaves no choice.
#include "tests/unit/kernels/runtime/ptx_snippet.h"

#include "runtime/ptx/isa_latitude.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace kg::ptx_run {
namespace {

class Taken {
 public:
  explicit Taken(const IsaLatitude& latitude) : before_(kg::ptx_run::isa_latitude()) {
    set_isa_latitude(latitude);
  }
  ~Taken() { set_isa_latitude(before_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  const IsaLatitude before_;
};

float one(const std::string& instruction, float argument, float second = 0) {
  const std::string body = fmt::format("ld.global.f32 %f1, [%in]; ld.global.f32 %f2, [%in+4];"
                                       "{} st.global.f32 [%out], %f0;",
                                       instruction);
  return std::bit_cast<float>(run(body, {bits(argument), bits(second)})[0]);
}

double in_ulps(float value, float exact) {
  return (static_cast<double>(value) - exact) /
         (std::nextafter(std::fabs(exact), 1e38F) - std::fabs(exact));
}

struct Approximation {
  const char* instruction;
  float (*exact)(float);
  double ulps; // the ISA's bound at 0.7, in units of the last place of the result
};

TEST(PtxLatitude, ApproximationsAreOffByAtMostTheBound) {
  const Approximation all[] = {
      {"ex2.approx.f32 %f0, %f1;", [](float x) { return std::exp2(x); }, 2},
      {"rcp.approx.f32 %f0, %f1;", [](float x) { return 1 / x; }, 1},
      {"rsqrt.approx.f32 %f0, %f1;", [](float x) { return 1 / std::sqrt(x); }, 1.5},
      {"sqrt.approx.f32 %f0, %f1;", [](float x) { return std::sqrt(x); }, 2},
      {"lg2.approx.f32 %f0, %f1;", [](float x) { return std::log2(x); }, 8}, // 2^-22 of about 1/2
      {"sin.approx.f32 %f0, %f1;", [](float x) { return std::sin(x); }, 12},
      {"tanh.approx.f32 %f0, %f1;", [](float x) { return std::tanh(x); }, 8192}};
  for (const auto& [instruction, exact, ulps] : all) {
    std::set<float> seen;
    for (std::uint32_t seed = 0; seed < 6; ++seed) {
      const Taken taken({.approximate = seed});
      const float value = one(instruction, 0.7F);
      EXPECT_LE(std::fabs(in_ulps(value, exact(0.7F))), ulps + 1) << instruction << ' ' << seed;
      EXPECT_EQ(bits(one(instruction, 0.7F)), bits(value)) << instruction; // as on a GPU
      seen.insert(value);
    }
    EXPECT_GT(seen.size(), 1U) << instruction;
  }
}

TEST(PtxLatitude, WhatTheTablesOfTheIsaSayStays) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const Taken taken({.approximate = seed});
    EXPECT_EQ(one("ex2.approx.f32 %f0, %f1;", 0), 1);
    EXPECT_EQ(one("cos.approx.f32 %f0, %f1;", 0), 1);
    EXPECT_EQ(one("tanh.approx.f32 %f0, %f1;", -kInfinity), -1);
    EXPECT_EQ(one("rcp.approx.f32 %f0, %f1;", 0), kInfinity);
    EXPECT_EQ(one("lg2.approx.f32 %f0, %f1;", 1), 0);
    EXPECT_EQ(one("div.rn.f32 %f0, %f1, %f2;", 1, 3), 1.0F / 3);
    EXPECT_EQ(one("sqrt.rn.f32 %f0, %f1;", 3), std::sqrt(3.0F));
  }
}

// (1 + e)^2 - (1 + 2 e) is e^2 in one rounding, and nothing in two.
constexpr float kX = 1 + 0x1p-23F;
constexpr float kMinus = -(1 + 0x1p-22F);

TEST(PtxLatitude, AProductAndASumBecomeOne) {
  const Taken taken({.fuse = true});
  EXPECT_EQ(one("mul.f32 %f3, %f1, %f1; add.f32 %f0, %f3, %f2;", kX, kMinus), 0x1p-46F);
  EXPECT_EQ(one("mul.f32 %f3, %f1, %f1; add.f32 %f0, %f2, %f3;", kX, kMinus), 0x1p-46F);
  EXPECT_EQ(one("mul.f32 %f3, %f1, %f1; sub.f32 %f0, %f3, %f2;", kX, -kMinus), 0x1p-46F);
  EXPECT_EQ(one("mul.f32 %f3, %f1, %f1; sub.f32 %f0, %f2, %f3;", kX, -kMinus), -0x1p-46F);
}

TEST(PtxLatitude, NothingElseIsFused) {
  const std::string plain = "mul.f32 %f3, %f1, %f1; add.f32 %f0, %f3, %f2;";
  EXPECT_EQ(one(plain, kX, kMinus), 0); // without the latitude
  const Taken taken({.fuse = true});
  for (const char* const text :
       {"mul.rn.f32 %f3, %f1, %f1; add.f32 %f0, %f3, %f2;",
        "mul.f32 %f3, %f1, %f1; add.rn.f32 %f0, %f3, %f2;",
        // A factor, or the product, is another by then.
        "mul.f32 %f3, %f1, %f1; mov.f32 %f1, 0f00000000; add.f32 %f0, %f3, %f2;",
        "mul.f32 %f3, %f1, %f1; mov.f32 %f3, %f3; add.f32 %f0, %f3, %f2;",
        "mov.f32 %f3, %f1; mul.f32 %f3, %f3, %f1; add.f32 %f0, %f3, %f2;",
        // Somebody may come from elsewhere.
        "mul.f32 %f3, %f1, %f1; there: add.f32 %f0, %f3, %f2;"})
    EXPECT_EQ(one(text, kX, kMinus), 0) << text;
}

} // namespace
} // namespace kg::ptx_run
