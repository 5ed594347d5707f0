// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX on the executor: what single instructions give, by the ISA's own words, and what is refused.
// Each snippet is a kernel of one thread or one warp that reads words and writes words.
#include "runtime/atomic_file.h"
#include "runtime/buffer.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/ptx/emit.h"
#include "runtime/ptx/library.h"
#include "runtime/ptx/module.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/kernels/runtime/ptx_snippet.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace kg::ptx_run {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint32_t kNan = 0x7fc00000, kInfinity = 0x7f800000, kMinusZero = 0x80000000;

// The result of an instruction of two words: "shl.b32 %r3, %r1, %r2" of a and b.
std::uint32_t of(const std::string& instruction, std::uint32_t a, std::uint32_t b = 0,
                 std::uint32_t c = 0) {
  return run(
      "ld.global.u32 %r1, [%in]; ld.global.u32 %r2, [%in+4]; ld.global.u32 %r4, [%in+8];\n"
      "mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f4, %r4; mov.b32 %r3, 0; mov.b32 %f3, %r3;\n" +
          instruction + ";\nst.global.u32 [%out], %r3;",
      {a, b, c})[0];
}
// Of floats, with the result in %f3.
std::uint32_t of_floats(const std::string& instruction, std::uint32_t a, std::uint32_t b = 0,
                        std::uint32_t c = 0) {
  return of(instruction + "; mov.b32 %r3, %f3", a, b, c);
}

TEST(Ptx, ShiftsBeyondTheWidth) {
  EXPECT_EQ(of("shl.b32 %r3, %r1, %r2", 1, 31), 0x80000000u);
  EXPECT_EQ(of("shl.b32 %r3, %r1, %r2", 1, 32), 0u);
  EXPECT_EQ(of("shr.u32 %r3, %r1, %r2", 0x80000000, 40), 0u);
  EXPECT_EQ(of("shr.s32 %r3, %r1, %r2", 0x80000000, 40), 0xffffffffu);
  EXPECT_EQ(of("shf.l.wrap.b32 %r3, %r1, %r2, %r4", 0x12345678, 0x9abcdef0, 36), 0xabcdef01u);
  EXPECT_EQ(of("shf.r.wrap.b32 %r3, %r1, %r2, %r4", 0x12345678, 0x9abcdef0, 8), 0xf0123456u);
}

TEST(Ptx, ProductsAndQuotients) {
  EXPECT_EQ(of("mul.hi.s32 %r3, %r1, %r2", 0x80000000, 2), 0xffffffffu);
  EXPECT_EQ(of("mul.hi.u32 %r3, %r1, %r2", 0x80000000, 2), 1u);
  EXPECT_EQ(
      of("mul.wide.s32 %d1, %r1, %r2; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r3, %d1", 0xffffffff, 5),
      0xffffffffu);
  EXPECT_EQ(of("mad.lo.s32 %r3, %r1, %r2, %r4", 7, 0xffffffff, 10), 3u);
  EXPECT_EQ(of("div.s32 %r3, %r1, %r2", 0xfffffff9, 2), 0xfffffffdu) << "towards zero";
  EXPECT_EQ(of("rem.s32 %r3, %r1, %r2", 0xfffffff9, 2), 0xffffffffu);
  EXPECT_EQ(of("div.s32 %r3, %r1, %r2", 0x80000000, 0xffffffff), 0x80000000u);
  EXPECT_EQ(of("min.s32 %r3, %r1, %r2", 0xffffffff, 1), 0xffffffffu);
  EXPECT_EQ(of("min.u32 %r3, %r1, %r2", 0xffffffff, 1), 1u);
}

TEST(Ptx, Bits) {
  EXPECT_EQ(of("prmt.b32 %r3, %r1, %r2, 30292", 0x33221100, 0x77665544), 0x77665544u);
  EXPECT_EQ(of("prmt.b32 %r3, %r1, %r2, 8", 0x00000080, 0) & 0xff, 0xffu) << "the sign of byte 0";
  EXPECT_EQ(of("lop3.b32 %r3, %r1, %r2, %r4, 150", 0xff00ff00, 0x0ff00ff0, 0x00ffff00),
            0xff00ff00u ^ 0x0ff00ff0u ^ 0x00ffff00u);
  EXPECT_EQ(of("bfe.u32 %r3, %r1, 8, 8", 0x12345678), 0x56u);
  EXPECT_EQ(of("bfe.s32 %r3, %r1, 28, 8", 0x92345678), 0xfffffff9u) << "beyond the end the sign";
  EXPECT_EQ(of("bfi.b32 %r3, %r1, %r2, 4, 8", 0xab, 0xffffffff), 0xfffffabfu);
  EXPECT_EQ(of("popc.b32 %r3, %r1", 0xf0f00001), 9u);
  EXPECT_EQ(of("clz.b32 %r3, %r1", 0), 32u);
  EXPECT_EQ(of("clz.b32 %r3, %r1", 0x00010000), 15u);
  EXPECT_EQ(of("brev.b32 %r3, %r1", 0x00000003), 0xc0000000u);
  EXPECT_EQ(of("bfind.u32 %r3, %r1", 0x00010000), 16u);
  EXPECT_EQ(of("bfind.shiftamt.u32 %r3, %r1", 0x00010000), 15u);
  EXPECT_EQ(of("bfind.u32 %r3, %r1", 0), 0xffffffffu);
  EXPECT_EQ(of("bfind.s32 %r3, %r1", 0xfffffff0), 3u) << "the highest bit that is not a sign";
  EXPECT_EQ(of("bfind.s32 %r3, %r1", 0xffffffff), 0xffffffffu);
  EXPECT_EQ(of("cvt.u64.u32 %d1, %r1; cvt.u64.u32 %d2, %r2; bfi.b64 %d1, %d1, %d2, 28, 8;"
               "shr.u64 %d1, %d1, 16; cvt.u32.u64 %r3, %d1",
               0xab, 0xffffffff),
            0x000abfffu);
  EXPECT_EQ(of("dp4a.s32.s32 %r3, %r1, %r2, %r4", 0xff020304, 0x05060708, 10),
            10u + 12 + 21 + 32 - 5);
  EXPECT_EQ(of("dp4a.u32.s32 %r3, %r1, %r2, %r4", 0xff000000, 0xff000000, 0), 0xffffff01u);
  EXPECT_EQ(of("{.reg.b32 low, high; mov.b32 low, %r1; mov.b32 %r3, low; } mov.b32 %r3, %r3", 7),
            7u);
}

TEST(Ptx, ComparisonsWithNan) {
  const auto compare = [](const char* how, std::uint32_t a, std::uint32_t b) {
    return of(fmt::format("setp.{}.f32 %p1, %f1, %f2; selp.b32 %r3, 1, 0, %p1", how), a, b);
  };
  const std::uint32_t one = bits(1), two = bits(2);
  for (const char* ordered : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_EQ(compare(ordered, kNan, one), 0u) << ordered;
  for (const char* either : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_EQ(compare(either, one, kNan), 1u) << either;
  EXPECT_EQ(compare("ne", one, two), 1u);
  EXPECT_EQ(compare("ltu", two, one), 0u);
  EXPECT_EQ(compare("neu", one, one), 0u);
}

TEST(Ptx, LeastAndGreatest) {
  const std::uint32_t one = bits(1);
  EXPECT_EQ(of_floats("min.f32 %f3, %f1, %f2", kNan, one), one);
  EXPECT_EQ(of_floats("max.f32 %f3, %f1, %f2", one, kNan), one);
  EXPECT_EQ(of_floats("max.NaN.f32 %f3, %f1, %f2", one, kNan), 0x7fffffffu);
  EXPECT_EQ(of_floats("min.f32 %f3, %f1, %f2", 0, kMinusZero), kMinusZero);
  EXPECT_EQ(of_floats("max.f32 %f3, %f1, %f2", kMinusZero, 0), 0u);
}

// What arithmetic gives is one NaN, whichever way it takes; what is moved keeps its bits.
TEST(Ptx, OneNan) {
  constexpr std::uint32_t kOne = 0x7fffffff, kOther = 0xffc01234;
  const std::uint32_t one = bits(1);
  EXPECT_EQ(of_floats("mov.f32 %f3, %f1", kOther), kOther);
  EXPECT_EQ(of_floats("add.f32 %f5, %f1, %f2; mov.f32 %f3, %f5", kOther, one), kOne);
  EXPECT_EQ(of_floats("mul.f32 %f5, %f1, %f2; neg.f32 %f3, %f5", kOther, one), kOne);
  EXPECT_EQ(
      of("sub.f32 %f5, %f1, %f2; mov.b32 %r5, %f5; shr.u32 %r3, %r5, 16", kInfinity, kInfinity),
      kOne >> 16)
      << "as a word";
  EXPECT_EQ(of("add.f32 %f5, %f1, %f2; mov.b64 %d1, {%f5, %f1}; cvt.u32.u64 %r3, %d1", kOther, one),
            kOne)
      << "in a pair";
  EXPECT_EQ(of("add.f32 %f5, %f1, %f2; cvt.rna.tf32.f32 %r3, %f5", kOther, one), kOne & ~0x1fffu)
      << "of which TF32 has some bits";
  EXPECT_EQ(of_floats("mov.b64 %d1, {%r1, %r2}; cvt.rn.f32.f64 %f5, %d1; mov.f32 %f3, %f5", 1,
                      0xfff00000),
            0xffc00000)
      << "but for one of f64";
  const std::string either = "setp.eq.u32 %p1, %r4, 0; mov.f32 %f5, %f1; @%p1 bra OVER; "
                             "add.f32 %f5, %f1, %f2; OVER: mov.f32 %f3, %f5";
  EXPECT_EQ(of_floats(either, kOther, one, 0), kOther) << "beside a sum that is not taken";
  EXPECT_EQ(of_floats(either, kOther, one, 1), kOne);
  const std::string loop = "mov.f32 %f5, %f1; mov.u32 %r5, 0; AGAIN: mul.f32 %f6, %f5, %f2; "
                           "mov.f32 %f5, %f6; add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; "
                           "@%p1 bra AGAIN; selp.f32 %f3, %f5, %f1, %p1; mov.f32 %f3, %f5";
  EXPECT_EQ(of_floats(loop, kOther, one), kOne);
}

TEST(Ptx, DirectedRounding) {
  const std::uint32_t one = bits(1), tiny = bits(0x1p-30f), minus_tiny = bits(-0x1p-30f);
  EXPECT_EQ(of_floats("add.rp.f32 %f3, %f1, %f2", one, tiny), one + 1);
  EXPECT_EQ(of_floats("add.rz.f32 %f3, %f1, %f2", one, minus_tiny), one - 1);
  EXPECT_EQ(of_floats("sub.rm.f32 %f3, %f1, %f2", one, tiny), one - 1);
  EXPECT_EQ(of_floats("mul.rm.f32 %f3, %f1, %f2", one + 1, one + 1), one + 2);
  EXPECT_EQ(of_floats("mul.rp.f32 %f3, %f1, %f2", one + 1, one + 1), one + 3);
  EXPECT_EQ(of_floats("fma.rm.f32 %f3, %f1, %f2, %f4", one, one, minus_tiny), one - 1);
  EXPECT_EQ(of_floats("fma.rn.f32 %f3, %f1, %f2, %f4", one + 1, one + 1, bits(-1)),
            bits(std::fma(1 + 0x1p-23f, 1 + 0x1p-23f, -1.f)));
}

TEST(Ptx, FloatsAsIntegers) {
  EXPECT_EQ(of("cvt.rzi.s32.f32 %r3, %f1", bits(-2.7f)), 0xfffffffeu);
  EXPECT_EQ(of("cvt.rni.s32.f32 %r3, %f1", bits(2.5f)), 2u);
  EXPECT_EQ(of("cvt.rmi.s32.f32 %r3, %f1", bits(-2.5f)), 0xfffffffdu);
  EXPECT_EQ(of("cvt.rpi.s32.f32 %r3, %f1", bits(2.1f)), 3u);
  EXPECT_EQ(of("cvt.rzi.s32.f32 %r3, %f1", bits(1e20f)), 0x7fffffffu);
  EXPECT_EQ(of("cvt.rzi.u32.f32 %r3, %f1", bits(-5)), 0u);
  EXPECT_EQ(of("cvt.rzi.u32.f32 %r3, %f1", bits(1e20f)), 0xffffffffu);
  EXPECT_EQ(of("cvt.rzi.s32.f32 %r3, %f1", kNan), 0u);
  EXPECT_EQ(of_floats("cvt.rn.f32.u32 %f3, %r1", 0x01000001), bits(16777216));
  EXPECT_EQ(of_floats("cvt.sat.f32.f32 %f3, %f1", kNan), 0u);
  EXPECT_EQ(of_floats("cvt.sat.f32.f32 %f3, %f1", bits(7)), bits(1));
  EXPECT_EQ(of_floats("cvt.rzi.f32.f32 %f3, %f1", bits(-1.5f)), bits(-1));
  EXPECT_EQ(of("cvt.s32.s8 %r3, %r1", 0x80), 0xffffff80u);
}

TEST(Ptx, ShortFloatsCompared) {
  // 1 beside NaN, 2 beside 0; -0 equals 0.
  EXPECT_EQ(of("set.lt.f16x2.f16x2 %r3, %r1, %r2", 0x7e003c00, 0x00004000), 0x00003c00u);
  EXPECT_EQ(of("set.geu.f16x2.f16x2 %r3, %r1, %r2", 0x7e003c00, 0x00004000), 0x3c000000u);
  EXPECT_EQ(of("set.lt.u32.f16x2 %r3, %r1, %r2", 0x7e003c00, 0x00004000), 0x0000ffffu);
  EXPECT_EQ(of("set.eq.bf16x2.bf16x2 %r3, %r1, %r2", 0x80003f80, 0x00004000), 0x3f800000u);
  const auto halves = [](const std::string& text, std::uint32_t a, std::uint32_t b) {
    return of("cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; " + text, a, b);
  };
  EXPECT_EQ(halves("set.gt.u32.f16 %r3, %h1, %h2", 0x3c00, 0xbc00), 0xffffffffu);
  EXPECT_EQ(halves("set.gt.f16.f16 %h3, %h1, %h2; cvt.u32.u16 %r3, %h3", 0x3c00, 0xbc00), 0x3c00u);
  EXPECT_EQ(halves("setp.gt.f16 %p1, %h1, %h2; selp.b32 %r3, 1, 2, %p1", 0x3c00, 0xbc00), 1u);
  EXPECT_EQ(halves("setp.gt.f16 %p1, %h1, %h2; selp.b32 %r3, 1, 2, %p1", 0x7e00, 0xbc00), 2u);
  EXPECT_EQ(halves("setp.lt.bf16 %p1, %h1, %h2; selp.b32 %r3, 1, 2, %p1", 0xff80, 0x3f80), 1u);
}

TEST(Ptx, ShortFloats) {
  EXPECT_EQ(of("cvt.rn.f16.f32 %h1, %f1; cvt.u32.u16 %r3, %h1", bits(1 + 0x1p-11f)), 0x3c00u)
      << "a tie, to even";
  EXPECT_EQ(of("cvt.rz.f16.f32 %h1, %f1; cvt.u32.u16 %r3, %h1", bits(65535.f)), 0x7bffu);
  EXPECT_EQ(of("cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r3, %h1", bits(1 + 3 * 0x1p-8f)), 0x3f82u);
  EXPECT_EQ(of("cvt.rn.f16x2.f32 %r3, %f1, %f2", bits(1), bits(2)), 0x3c004000u)
      << "the first is the upper half";
  EXPECT_EQ(of("cvt.rn.bf16x2.f32 %r3, %f1, %f2", bits(1), bits(2)), 0x3f804000u);
  EXPECT_EQ(of("cvt.rn.f16.f32 %h1, %f1; cvt.u32.u16 %r3, %h1", 0xff812345), 0x7fffu);
  EXPECT_EQ(of("cvt.rn.bf16.f32 %h1, %f1; cvt.u32.u16 %r3, %h1", 0xff812345), 0x7fffu);
  EXPECT_EQ(of_floats("cvt.u16.u32 %h1, %r1; cvt.f32.f16 %f3, %h1", 0xfc01), 0x7fffffffu);
  EXPECT_EQ(of("cvt.rna.tf32.f32 %r3, %f1", 0x3f801000), 0x3f802000u) << "a tie, away from zero";
  EXPECT_EQ(of_floats("cvt.u16.u32 %h1, %r1; cvt.f32.f16 %f3, %h1", 0x0001), bits(0x1p-24f));
}

TEST(Ptx, SignsAndSpecialValues) {
  EXPECT_EQ(of_floats("copysign.f32 %f3, %f1, %f2", bits(-1), bits(3)), bits(-3))
      << "the first has the sign";
  EXPECT_EQ(of_floats("neg.f32 %f3, %f1", 0), kMinusZero);
  EXPECT_EQ(of_floats("abs.f32 %f3, %f1", kMinusZero), 0u);
  EXPECT_EQ(of_floats("ex2.approx.ftz.f32 %f3, %f1", bits(-200)), 0u);
  EXPECT_EQ(of_floats("ex2.approx.ftz.f32 %f3, %f1", bits(3)), bits(8));
  EXPECT_EQ(of_floats("rcp.approx.ftz.f32 %f3, %f1", 1), kInfinity) << "a subnormal is flushed";
  EXPECT_EQ(of_floats("rcp.rn.f32 %f3, %f1", kMinusZero), kInfinity | kMinusZero);
  EXPECT_EQ(of_floats("div.approx.f32 %f3, %f1, %f2", bits(1), bits(0x1p127f)), 0u)
      << "beyond 2^126";
  EXPECT_EQ(of_floats("div.rn.f32 %f3, %f1, %f2", bits(1), bits(3)), bits(1.f / 3));
  EXPECT_EQ(of_floats("mul.ftz.f32 %f3, %f1, %f2", bits(0x1p-100f), bits(0x1p-40f)), 0u);
}

TEST(Ptx, MemoryOfEveryWidth) {
  EXPECT_EQ(of("ld.global.s8 %r3, [%in]", 0x80), 0xffffff80u);
  EXPECT_EQ(of("ld.global.u8 %r3, [%in+1]", 0x8000), 0x80u);
  EXPECT_EQ(of("ld.global.s16 %r3, [%in]", 0x8001), 0xffff8001u);
  EXPECT_EQ(of("ld.global.v2.u32 {%r5, %r6}, [%in]; sub.s32 %r3, %r6, %r5", 5, 9), 4u);
  EXPECT_EQ(
      of("ld.global.v4.u8 {%r5, %r6, %r7, %r8}, [%in]; shl.b32 %r7, %r7, 8; or.b32 %r3, %r8, %r7",
         0x44332211),
      0x3344u);
  EXPECT_EQ(of("ld.global.b32 {%r3}, [%in]; st.global.b32 [%out], {%r3}", 7), 7u)
      << "as Triton writes it";
  EXPECT_EQ(of("mov.b32 {%h1, %h2}, %r1; mov.b32 %r3, {%h2, %h1}", 0x12345678), 0x56781234u);
}

TEST(Ptx, LanesExchange) {
  const auto shuffle = [](const std::string& mode, const std::string& by,
                          const std::string& clamp) {
    return run(fmt::format("shfl.sync.{}.b32 %r1|%p1, %lane, {}, {}, -1; selp.b32 %r2, 100, 0, "
                           "%p1; add.s32 %r1, %r1, %r2;"
                           "st.global.u32 [%out], %r1;",
                           mode, by, clamp),
               {0}, 32);
  };
  const auto up = shuffle("up", "1", "0"), down = shuffle("down", "1", "31"),
             xored = shuffle("bfly", "4", "31");
  const auto segments = shuffle("down", "1", "0x181f"); // of eight lanes
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(up[lane], lane == 0 ? 0u : 100 + lane - 1);
    EXPECT_EQ(down[lane], lane == 31 ? 31u : 100 + lane + 1);
    EXPECT_EQ(xored[lane], 100 + (lane ^ 4));
    EXPECT_EQ(segments[lane], lane % 8 == 7 ? lane : 100 + lane + 1);
  }
  EXPECT_EQ(run("and.b32 %r1, %lane, 1; setp.eq.s32 %p1, %r1, 0; vote.sync.ballot.b32 %r2, %p1, "
                "-1; st.global.u32 [%out], %r2;",
                {0}, 32)[5],
            0x55555555u);
}

TEST(Ptx, ABlockSharesMemory) {
  const auto out = run("mov.u32 %r1, tile; shl.b32 %r2, %lane, 2; add.s32 %r3, %r1, %r2; "
                       "st.shared.u32 [%r3], %lane; bar.sync 0;\n"
                       "xor.b32 %r2, %r2, 252; add.s32 %r3, %r1, %r2; ld.shared.u32 %r4, [%r3]; "
                       "st.global.u32 [%out], %r4;",
                       {0}, 64, ".shared .align 4 .b8 tile[256];");
  for (unsigned thread = 0; thread < 64; ++thread) EXPECT_EQ(out[thread], 63 - thread);
}

// As nvcc writes it where it takes a part of all places of a thread out of them.
TEST(Ptx, PlacesInSharedMemoryWrapAround) {
  const auto out = run("mov.u32 %r1, tile; shl.b32 %r2, %lane, 2; add.s32 %r1, %r1, %r2; "
                       "sub.s32 %r2, %r1, 128; st.shared.u32 [%r2+128], %lane; "
                       "ld.shared.u32 %r3, [%r1]; st.global.u32 [%out], %r3;",
                       {0}, 32, ".shared .align 4 .b8 tile[128];");
  for (unsigned thread = 0; thread < 32; ++thread) EXPECT_EQ(out[thread], thread);
}

TEST(Ptx, LabelsBelongToTheirScope) {
  EXPECT_EQ(run("mov.b32 %r3, 0;\n"
                "{ L: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 3; @%p1 bra L; }\n"
                "{ L: add.u32 %r3, %r3, 10; setp.lt.u32 %p1, %r3, 30; @%p1 bra L; bra.uni END; }\n"
                "add.u32 %r3, %r3, 100;\n"
                "END: st.global.u32 [%out], %r3;")[0],
            33u);
}

TEST(Ptx, VariablesOfOtherKernelsTakeNoSharedMemory) {
  const LoadedKernel kernel =
      compile(module_of("st.shared.u32 [own], %r0;",
                        ".shared .align 1024 .b8 of_another[4096];\n"
                        ".shared .align 16 .b8 own[64];\n"
                        ".extern .shared .align 1024 .b8 dynamic_of_another[];"),
              "snippet.ptx", "snippet");
  EXPECT_EQ(kernel.static_shared_bytes, 64u);
}

TEST(Ptx, AKernelNamesItsCluster) {
  std::string text = module_of("");
  text.replace(text.find(")\n{"), 2, ")\n.reqnctapercluster 2, 1, 1\n.explicitcluster\n");
  const LoadedKernel kernel = compile(text, "snippet.ptx", "snippet");
  LaunchConfig config{.grid = 4, .block = 32};
  take_cluster(kernel, config);
  EXPECT_EQ(config.cluster.x, 2u);
  EXPECT_EQ(config.cluster.y, 1u);
  take_cluster(kernel, config);
  config.cluster = {4, 1, 1};
  EXPECT_THAT([&] { take_cluster(kernel, config); },
              testing::ThrowsMessage<Error>(HasSubstr("whose clusters have (2,1,1)")));
  text.replace(text.find("2, 1, 1"), 7, "2, 0, 1");
  EXPECT_THAT([&] { compile(text, "snippet.ptx", "snippet"); },
              testing::ThrowsMessage<Error>(HasSubstr("a cluster has 1 to 8 blocks")));
}

TEST(Ptx, WhatIsNotExecutedIsRefusedByItsLine) {
  const auto refusal = [](const std::string& body) {
    try {
      compile(module_of(".loc 1 88 3\n" + body, ".file 1 \"/x/kernels/ops/gemm/gemm.cu\""), "k.ptx",
              "snippet");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("it was accepted");
  };
  EXPECT_THAT(refusal("tcgen05.fence::before_thread_sync;"),
              AllOf(HasSubstr("`tcgen05.fence::before_thread_sync` (k.ptx:"),
                    HasSubstr("gemm.cu:88"), HasSubstr("sm_80")));
  EXPECT_THAT(refusal("atom.global.add.noftz.v2.f32 {%f1, %f2}, [%in], {%f3, %f4};"),
              HasSubstr("is not executed"));
  EXPECT_THAT(refusal("fence.proxy.async.frobnicate;"), HasSubstr(".frobnicate is not known here"));
  EXPECT_THAT(refusal(".param .b32 r; .param .b32 a; call.uni (r), f, (a);"),
              HasSubstr("the module has no function f"));
  EXPECT_THAT(refusal("mov.u64 %d1, table;"), HasSubstr("the module has no variable table"));
  EXPECT_THAT(refusal("frobnicate.b32 %r1, %r2;"), HasSubstr("does not support it"));
  EXPECT_THROW(compile(module_of(""), "k.ptx", "another"), Error);
  EXPECT_THROW(compile(".version 9.0\n.visible .entry snippet() {", "k.ptx", "snippet"), Error)
      << "cut off";
}

TEST(Ptx, PlacesAreThoseOfTheSource) {
  const auto module_from = [](const std::string& file) {
    return parse(
        module_of(".loc 1 88 3\nadd.s32 %r1, %r2, 1;", fmt::format(".file 1 \"{}\"", file)),
        "k.ptx");
  };
  const TemporaryFolder checkout; // which files of ours are named from
  write_file(checkout.path() / "kernels/runtime/device_code.h", "");
  const Module module = module_from((checkout.path() / "kernels/ops/gemm/gemm.cu").string());
  ASSERT_EQ(module.entries.size(), 1u);
  EXPECT_THAT(emit(module, module.entries[0]).text,
              HasSubstr("#line 88 \"kernels/ops/gemm/gemm.cu\""));
  const Module foreign = module_from("/x/kernels/mine.cu");
  EXPECT_THAT(emit(foreign, foreign.entries[0]).text, HasSubstr("#line 88 \"/x/kernels/mine.cu\""));
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(entry_names(module_of("")), std::vector<std::string>{"snippet"});
}

TEST(Ptx, ABreakpointEndsTheKernelAsATrapDoes) {
  const auto emitted = [](const std::string& body) {
    const Module module = parse(module_of(body), "k.ptx");
    return emit(module, module.entries[0]).text;
  };
  EXPECT_EQ(emitted("brkpt;"), emitted("trap;"));
  EXPECT_NE(emitted("brkpt;"), emitted("ret;"));
}

TEST(Ptx, OneKernelOfManyIsReadAsAllAre) {
  const std::string broken = ".visible .entry broken() { \"}\" { }\n ??? }\n";
  const std::string function = ".func twice() {\n .loc 1 7 1\n ret;\n}\n";
  const std::string before = ".file 1 \"/x/kernels/k/k.cu\"\n" + function;
  const std::string text =
      module_of(".loc 1 88 3, f $L, inlined_at 1 5 1\ncall twice; trap;", before);
  const std::string after = ".global .u32 last;\n";

  const std::string many = broken + text + after;
  const Program program(many, "k.ptx");
  const Module one = program.with("snippet");
  const Module all = parse("\n\n" + text + after, "k.ptx");
  ASSERT_EQ(one.entries.size(), 1u);
  EXPECT_EQ(emit(one, one.entries[0]).text, emit(all, all.entries[0]).text);
  EXPECT_EQ(one.variables.size(), 1u) << "what stands behind the kernel";
  EXPECT_NE(one.id, all.id);

  EXPECT_TRUE(program.with("another").entries.empty());
  EXPECT_THAT([&] { program.with("broken"); },
              testing::ThrowsMessage<Error>(HasSubstr("k.ptx:1: ")));
}

} // namespace
} // namespace kg::ptx_run
