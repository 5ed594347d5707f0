// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What an H200 (driver 580.159.04, CUDA 13.0) gave where the PTX ISA leaves a choice, or says
// otherwise: the words themselves, so that the oracle and the executor are not right only by each
// other's word. They are those that the table complained of there before it followed them, at most
// five of a form, and one that it did not complain of.
#include "tests/unit/kernels/runtime/ptx/snippets/run.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kg::test::snippets {
namespace {

struct Example {
  std::vector<Word> operands;
  Word result;
};
struct Seen {
  std::vector<std::string> forms;
  std::vector<Example> examples;
};

// PTX ISA, "bfe", "bfi": place and length are taken modulo 256. Those of 64 bits were not.
std::vector<Seen> fields() {
  constexpr Word kAll = ~Word{0}, kEnds = 0x8000000000000001;
  return {{{"bfe.u64", "bfe.s64"},
           {{{0x01, 0x100, 1}, 0},
            {{0x03, 0x100, 1}, 0},
            {{0x07, 0x100, 1}, 0},
            {{0x0f, 0x100, 1}, 0},
            {{0x1f, 0x100, 1}, 0}}},
          {{"bfi.b64"},
           {{{0x80, kAll - 1, 0x100, 0x80}, kAll - 1},
            {{kEnds, kAll, 7, 0x80000001}, 0xff},
            {{0x100, 0, 0, 0x80000001}, 0x100},
            {{kEnds, 0x7f, 0x8001, 0x80}, 0x7f},
            {{0x80007fff00008001, kAll, 0x8001, 0x1f}, kAll}}}};
}

// The PTX ISA flushes "subnormal results", and IEEE 754-2019 (7.5) leaves open when a result is
// one. It was so after it had been rounded to 24 bits, as if exponents had no end: (1 - 2^-24)
// 2^-126 became zero, though the nearest number of the format is 2^-126, and 2^-252 - 2^-126, of
// which the table did not complain, stayed -2^-126.
std::vector<Seen> flushed() {
  constexpr Word kLeast = 0x00800000, kBelowOne = 0x3f7fffff, kMinus = 0x80000000;
  return {{{"mul.ftz.f32", "mul.rn.ftz.f32", "mul.ftz.sat.f32", "mul.rn.ftz.sat.f32"},
           {{{kBelowOne, kLeast}, 0},
            {{kBelowOne | kMinus, kLeast | kMinus}, 0},
            {{kLeast, kBelowOne}, 0}}},
          {{"mul.ftz.f32", "mul.rn.ftz.f32"},
           {{{kBelowOne | kMinus, kLeast}, kMinus}, {{kBelowOne, kLeast | kMinus}, kMinus}}},
          {{"mul.ftz.sat.f32", "mul.rn.ftz.sat.f32"}, {{{kLeast | kMinus, kBelowOne | kMinus}, 0}}},
          {{"fma.rn.ftz.f32", "fma.rn.ftz.sat.f32"},
           {{{kBelowOne | kMinus, kLeast | kMinus, 1}, 0},
            {{kBelowOne, kLeast, 0x007fffff}, 0},
            {{kLeast | kMinus, kBelowOne | kMinus, 0x807fffff}, 0},
            {{kBelowOne, kLeast, 0}, 0}}},
          {{"fma.rn.ftz.f32"},
           {{{kBelowOne | kMinus, kLeast, kMinus}, kMinus},
            {{kLeast, kLeast, kLeast | kMinus}, kLeast | kMinus}}},
          {{"fma.rn.ftz.sat.f32"}, {{{kLeast, kBelowOne, 1}, 0}}}};
}

// The PTX ISA does not say which NaN a conversion from f64 gives, and of TF32 that it is the
// canonical one.
std::vector<Seen> nans() {
  constexpr Word kSignalling = 0x7ff0000000000001, kQuiet = 0x7ff8000000000000;
  constexpr Word kMinus = 0x8000000000000000;
  const auto converted = [=](Word nan, Word minus) -> std::vector<Example> {
    return {{{kSignalling}, nan},
            {{kSignalling | kMinus}, nan | minus},
            {{kQuiet}, nan},
            {{kQuiet | kMinus}, nan | minus}};
  };
  return {{{"cvt.rn.f32.f64", "cvt.rz.f32.f64", "cvt.rm.f32.f64", "cvt.rp.f32.f64",
            "cvt.rn.ftz.f32.f64"},
           converted(0x7fc00000, 0x80000000)},
          {{"cvt.rn.f16.f64"}, converted(0x7e00, 0x8000)},
          {{"cvt.rna.tf32.f32"},
           {{{0x7f800001}, 0x7f800000},
            {{0xff800001}, 0xff800000},
            {{0x7fc00000}, 0x7fc00000},
            {{0xffc00000}, 0xffc00000}}}};
}

void expect(const std::string& form, const std::vector<Example>& examples) {
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const Snippet& each) { return each.form == form; });
  ASSERT_NE(found, table().end()) << form;
  std::vector<Word> operands;
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    for (const Word word : examples[lane % examples.size()].operands) operands.push_back(word);
  const std::vector<Word> results = run(*found, operands);
  std::vector<Wanted> said(kLanes);
  found->oracle(operands.data(), said.data());
  for (std::size_t lane = 0; lane < examples.size(); ++lane) {
    const Word* const in = operands.data() + lane * found->inputs.size();
    const Wanted wanted{.bits = examples[lane].result};
    std::size_t differing = 0;
    EXPECT_EQ(complaint(*found, in, &results[lane], &wanted, differing), "");
    EXPECT_EQ(complaint(*found, in, &said[lane].bits, &wanted, differing), "") << "by the oracle";
  }
}

TEST(InstructionsSeen, AreFollowed) {
  for (const auto& group : {fields(), flushed(), nans()})
    for (const Seen& seen : group)
      for (const std::string& form : seen.forms) expect(form, seen.examples);
}

} // namespace
} // namespace kg::test::snippets
