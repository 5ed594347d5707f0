// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to cast; its card configures those of every operation.
#include "ops/cast/cast.h"

#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"

namespace kg::card {
namespace {

// Known values, independent of the tests' formulas (OCP 8-bit Floating Point Specification 1.0,
// tables 1 and 2): range limits, ties to even, and out-of-range numbers. e4m3's negative NaN is
// omitted, because an unwritten output also holds it.
KG_OWN_TEST(KnownNumbers) {
  struct Known {
    double x;
    std::uint64_t e4m3, e5m2, e4m3_saturated, e5m2_saturated;
  };
  const std::vector<Known> all = {
      {0, 0x00, 0x00, 0x00, 0x00},        {-0.0, 0x80, 0x80, 0x80, 0x80},
      {1, 0x38, 0x3C, 0x38, 0x3C},        {-1.125, 0xB9, 0xBC, 0xB9, 0xBC},
      {1.375, 0x3B, 0x3E, 0x3B, 0x3E},    {0x1p-6, 0x08, 0x24, 0x08, 0x24},
      {0x1p-9, 0x01, 0x18, 0x01, 0x18},   {0x1p-10, 0x00, 0x14, 0x00, 0x14},
      {0x1.8p-9, 0x02, 0x1A, 0x02, 0x1A}, {448, 0x7E, 0x5F, 0x7E, 0x5F},
      {464, 0x7E, 0x5F, 0x7E, 0x5F},      {-460, 0xFE, 0xDF, 0xFE, 0xDF},
      {57344, 0x7F, 0x7B, 0x7E, 0x7B},    {kInfinity, 0x7F, 0x7C, 0x7E, 0x7B},
      {480, 0x7F, 0x60, 0x7E, 0x60},      {0x1p-24, 0x00, 0x00, 0x00, 0x00},
  };
  const auto check = [&](const std::string& form, Dtype small, std::uint64_t Known::*right) {
    std::vector<double> x, expected;
    for (const Known& known : all) {
      x.push_back(known.x);
      expected.push_back(test::decode(small, known.*right));
    }
    Sample sample{
        "known", form + "_n" + std::to_string(all.size()), {{"x", values(judge.dtype(), x)}}};
    sample.expected["y"] = expected;
    sample.may_be_vacuous = true;
    judge.check_exactly(sample);
  };
  check("narrow_e4m3", Dtype::e4m3, &Known::e4m3);
  check("narrow_e5m2", Dtype::e5m2, &Known::e5m2);
  check("narrow_e4m3_saturated", Dtype::e4m3, &Known::e4m3_saturated);
  check("narrow_e5m2_saturated", Dtype::e5m2, &Known::e5m2_saturated);
}

} // namespace
} // namespace kg::card
