// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma from the source and from what nvcc made of it: the same bits, those of the oracle.
#include "tests/unit/kernels/runtime/warpgroup/multiply_once.h"

#include "tests/unit/kernels/runtime/bulk/forms.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"
#include "tests/unit/kernels/runtime/warpgroup/product_oracle.h"

namespace kg::warpgroup {
namespace {

using bulk::Form;
using bulk::form_name;
using executor::error_of;
using executor::under_every_order;
using testing::HasSubstr;

Product product_of(OnceForm form, unsigned steps, bool adds) {
  Product p;
  p.steps = steps;
  p.adds = adds;
  const auto set = [&](const char* type, const char* sum, unsigned columns) {
    p.a_type = p.b_type = type;
    p.sum_type = sum;
    p.columns = columns;
  };
  bool by_depth = true;
  switch (form) {
  case OnceForm::bf16_n64: set("bf16", "f32", 64); break;
  case OnceForm::f16_n128_turned: set("f16", "f32", 128), by_depth = false; break;
  case OnceForm::f16_n32_halves: set("f16", "f16", 32); break;
  case OnceForm::tf32_n16: set("tf32", "f32", 16); break;
  case OnceForm::e4m3_n256: set("e4m3", "f32", 256); break;
  case OnceForm::e5m2_n8: set("e5m2", "f32", 8); break;
  case OnceForm::s8_n96: set("s8", "s32", 96); break;
  case OnceForm::bf16_n192_registers: set("bf16", "f32", 192), p.a_in_registers = true; break;
  }
  p.a = packed(128, by_depth, bytes_of(p.a_type), kRows);
  p.b = packed(64, by_depth, bytes_of(p.b_type), p.columns);
  return p;
}

ptx::MatrixLayout layout_of(const Layout& layout) {
  return {layout.swizzle == 128  ? ptx::MatrixSwizzle::bytes128
          : layout.swizzle == 64 ? ptx::MatrixSwizzle::bytes64
                                 : ptx::MatrixSwizzle::none,
          static_cast<unsigned>(layout.leading), static_cast<unsigned>(layout.stride)};
}

class MultiplyOnce : public bulk::Forms {
 protected:
  struct Outcome {
    std::vector<unsigned> sums;
    std::string message;
  };
  static Outcome run(OnceForm form, const Product& p, OnceMutant mutant = OnceMutant::none) {
    const Input input = random_input(p);
    std::vector<unsigned> in = input.shared;
    in.insert(in.end(), input.a_registers.begin(), input.a_registers.end());
    in.insert(in.end(), input.sums.begin(), input.sums.end());
    Outcome outcome;
    outcome.message = error_of([&] {
      Stream stream;
      const auto from = DeviceBuffer<unsigned>::from_host(in, stream);
      DeviceBuffer<unsigned> out(std::size_t{kThreads} * p.words());
      launch(multiply_once,
             {.grid = 1,
              .block = kThreads,
              .shared_bytes = p.shared_bytes() + kTilesAlignment,
              .stream = &stream},
             from.data(), out.data(), form, p.steps, layout_of(p.a), layout_of(p.b), p.adds,
             mutant);
      stream.synchronize();
      outcome.sums = out.to_host(stream);
    });
    return outcome;
  }
};
KG_IN_BOTH_FORMS(MultiplyOnce);

TEST_P(MultiplyOnce, GivesTheBitsOfTheOracle) {
  for (int form = 0; form <= static_cast<int>(OnceForm::bf16_n192_registers); ++form) {
    SCOPED_TRACE(form);
    const auto once = static_cast<OnceForm>(form);
    const Product p = product_of(once, 1 + form % 2, form % 3 != 0);
    const auto right = expected(p, random_input(p));
    under_every_order([&] {
      const Outcome outcome = run(once, p);
      ASSERT_EQ(outcome.message, "");
      ASSERT_EQ(outcome.sums, right);
    });
  }
}

// nvcc gives the new value another register: there nothing is wrong.
TEST_P(MultiplyOnce, RegistersOfAStayAsTheyAre) {
  const Product p = product_of(OnceForm::bf16_n192_registers, 1, true);
  under_every_order([&] {
    EXPECT_THAT(run(OnceForm::bf16_n192_registers, p, OnceMutant::a_overwritten).message,
                GetParam() == Form::source ? HasSubstr("a register of A of the wgmma at")
                                           : HasSubstr(""));
  });
}

} // namespace
} // namespace kg::warpgroup
