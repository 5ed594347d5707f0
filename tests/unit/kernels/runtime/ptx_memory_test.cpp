// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX on the executor: what threads do to each other's memory, variables of the module, and calls.
#include "runtime/error.h"
#include "tests/unit/kernels/runtime/ptx_snippet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::ptx_run {
namespace {

// 64 threads update one word, which they then read, and each what it found before.
TEST(Ptx, AtomicUpdates) {
  const auto update = [](const std::string& instruction, std::uint32_t begin) {
    std::vector<std::uint32_t> words = {begin, 0};
    const LoadedKernel kernel = compile(
        module_of("add.s32 %r1, %lane, 1;\ncvt.rn.f32.u32 %f1, %r1;\n" + instruction + ";\nret;"),
        "snippet.ptx", "snippet");
    void *in = words.data(), *out = words.data();
    void* arguments[] = {&in, &out};
    const std::size_t sizes[] = {sizeof(void*), sizeof(void*)};
    detail::launch_erased({.grid = 1, .block = 64}, erased(kernel),
                          {arguments, sizes, 2, nullptr, nullptr});
    return words[0];
  };
  EXPECT_EQ(update("atom.global.add.u32 %r2, [%in], %r1", 5), 5 + 64 * 65 / 2u);
  EXPECT_EQ(update("red.relaxed.gpu.global.add.u32 [%in], %r1", 5), 5 + 64 * 65 / 2u);
  EXPECT_EQ(update("atom.global.min.s32 %r2, [%in], -7", 5), 0xfffffff9u);
  EXPECT_EQ(update("atom.global.min.u32 %r2, [%in], -7", 5), 5u);
  EXPECT_EQ(update("atom.global.max.s32 %r2, [%in], %r1", 0x80000000), 64u);
  EXPECT_EQ(update("atom.global.max.u32 %r2, [%in], %r1", 0x80000000), 0x80000000u);
  EXPECT_EQ(update("atom.global.inc.u32 %r2, [%in], 9", 0), 4u) << "64 steps modulo 10";
  EXPECT_EQ(update("atom.global.dec.u32 %r2, [%in], 9", 0), 6u);
  EXPECT_EQ(update("atom.global.and.b32 %r2, [%in], 12", 0xff), 12u);
  EXPECT_EQ(update("atom.global.or.b32 %r2, [%in], %r1", 0x100), 0x17fu);
  EXPECT_EQ(update("atom.global.xor.b32 %r2, [%in], %r1", 0), 64u) << "1 ^ 2 ^ ... ^ 64";
  EXPECT_EQ(update("atom.global.add.f32 %f2, [%in], %f1", bits(0.5f)), bits(2080.5f));
  EXPECT_EQ(update("atom.global.cas.b32 %r2, [%in], 7, 9", 7), 9u);
  EXPECT_EQ(update("atom.global.cas.b32 %r2, [%in], 8, 9", 7), 7u);
  EXPECT_EQ(update("atom.global.exch.b32 %r2, [%in], 3", 7), 3u);
  EXPECT_EQ(update("mov.b32 %r3, 0x3c003800; atom.global.add.noftz.f16x2 %r2, [%in], %r3", 0),
            0x54005000u)
      << "64 times 1 and 0.5";
  EXPECT_EQ(update("st.volatile.global.u32 [%in], 11; ld.acquire.gpu.global.u32 %r2, [%in]; "
                   "st.release.gpu.global.u32 [%in], %r2",
                   7),
            11u);
}

// Threads are not preempted: those that wait let the one run that they wait for.
TEST(Ptx, ALoopThatWaits) {
  const auto out = run("setp.eq.u32 %p1, %lane, 63; @%p1 st.volatile.global.u32 [%in], 5;\n"
                       "WAIT: ld.volatile.global.u32 %r1, [%in]; setp.eq.u32 %p2, %r1, 0; @%p2 bra "
                       "WAIT;\nst.global.u32 [%out], %r1;",
                       {0}, 64);
  EXPECT_EQ(out, std::vector<std::uint32_t>(64, 5));
}

// Functions that nvcc did not inline: one that calls itself, one that gives a structure.
TEST(Ptx, CallsOfFunctions) {
  const std::string before = R"(
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.func (.param .b32 func_retval0) sum_to(.param .b32 sum_to_param_0)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  ld.param.u32 %r1, [sum_to_param_0];
  mov.u32 %r5, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra END;
  add.s32 %r2, %r1, -1;
  { .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;
    call.uni (retval0), sum_to, (param0);
    ld.param.b32 %r3, [retval0+0]; }
  add.s32 %r5, %r3, %r1;
END:
  st.param.b32 [func_retval0+0], %r5;
  ret;
}
.func (.param .align 8 .b8 func_retval0[16]) pair(.param .b32 pair_param_0, .param .b64 pair_param_1)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<3>;
  ld.param.u32 %r1, [pair_param_0];
  ld.param.u64 %d1, [pair_param_1];
  ld.global.u32 %r2, [%d1];
  st.param.b32 [func_retval0+0], %r1;
  st.param.b32 [func_retval0+8], %r2;
  ret;
}
)";
  EXPECT_EQ(run("{ .param .b32 param0; st.param.b32 [param0+0], 10; .param .b32 retval0; call.uni "
                "(retval0), sum_to, (param0); ld.param.b32 %r1, [retval0+0]; }\n"
                "{ .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b64 param1; "
                "st.param.b64 [param1+0], %in; .param .align 8 .b8 retval0[16]; call.uni "
                "(retval0), pair, (param0, param1); ld.param.b32 %r2, [retval0+0]; ld.param.b32 "
                "%r3, [retval0+8]; }\nmad.lo.s32 %r4, %r2, 1000, %r3; st.global.u32 [%out], %r4;",
                {7}, 1, before)[0],
            55007u);
}

// By a pointer: from a table of the module's, as a virtual function's is found, and from elsewhere.
TEST(Ptx, CallsThroughPointers) {
  const std::string before = R"(
.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [twice_param_0];
  add.s32 %r2, %r1, %r1;
  st.param.b32 [func_retval0], %r2;
  ret;
}
.func (.param .b32 func_retval0) next(.param .b32 next_param_0)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [next_param_0];
  add.s32 %r2, %r1, 1;
  st.param.b32 [func_retval0], %r2;
  ret;
}
.func (.param .b32 func_retval0) strange(.param .b32 strange_param_0)
{
  frobnicate.b32 1;
  ret;
}
.func two(.param .b32 a, .param .b32 b)
{
  ret;
}
.visible .global .align 8 .u64 table[5] = {0, twice, next, two, strange};
)";
  const auto call = [&](const std::string& pointer) {
    return run(pointer +
                   "\n{ .param .b32 param0; st.param.b32 [param0], 20; .param .b32 retval0;\n"
                   "prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                   "call (retval0), %d1, (param0), prototype_0; ld.param.b32 %r1, [retval0]; }\n"
                   "st.global.u32 [%out], %r1;",
               {0}, 1, before)[0];
  };
  const auto of_table = [&](int i) {
    return call(fmt::format("mov.u64 %d2, table; ld.global.u64 %d1, [%d2+{}];", 8 * i));
  };
  EXPECT_EQ(of_table(1), 40u);
  EXPECT_EQ(of_table(2), 21u);
  EXPECT_EQ(call("mov.u64 %d1, next;"), 21u);
  const auto complaint = [&](const auto& run_it) {
    try {
      run_it();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was wrong");
  };
  for (const int wrong : {0, 3})
    EXPECT_THAT(complaint([&] { of_table(wrong); }),
                testing::HasSubstr("the pointer names no function of the module with such"));
  // What is not executed is refused where it is called.
  EXPECT_THAT(complaint([&] { of_table(4); }), testing::HasSubstr("`frobnicate.b32`"));
}

TEST(Ptx, Printf) {
  const std::string before =
      ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 a, .param .b64 b);\n"
      ".global .align 1 .b8 $str[19] = {37, 100, 32, 37, 46, 50, 102, 32, 37, 115, 32, 37, 108, "
      "108, 120, 37, 37, 10, 0};\n" // "%d %.2f %s %llx%%\n"
      ".global .align 1 .b8 $word[4] = {97, 98, 99, 0};\n";
  testing::internal::CaptureStdout();
  const auto out =
      run(".local .align 8 .b8 depot[32]; mov.u64 %d1, depot; st.local.u32 [%d1], -5;\n"
          "mov.b64 %d2, 0d3FF8000000000000; st.local.u64 [%d1+8], %d2; mov.u64 %d3, $word; "
          "st.local.u64 [%d1+16], %d3; st.local.u64 [%d1+24], 1099511627776; mov.u64 %d4, $str;\n"
          "{ .param .b64 param0; st.param.b64 [param0+0], %d4; .param .b64 param1; st.param.b64 "
          "[param1+0], %d1; .param .b32 retval0; call.uni (retval0), vprintf, (param0, param1); "
          "ld.param.b32 %r1, [retval0+0]; }\nst.global.u32 [%out], %r1;",
          {0}, 1, before);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "-5 1.50 abc 10000000000%\n");
  EXPECT_EQ(out[0], 4u);
}

// One copy for all kernels of a module, with its initial value.
TEST(Ptx, VariablesOfTheModule) {
  const std::string before = ".global .align 4 .u32 counter = 40;\n"
                             ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 1, 0, 0};\n"
                             ".global .align 8 .u64 where = generic(counter);\n"
                             ".global .align 4 .f32 real = 0f3FC00000;\n"
                             ".global .align 4 .u32 empty;\n";
  EXPECT_EQ(run("ld.const.u32 %r1, [table+4]; st.global.u32 [%out], %r1;", {0}, 1, before)[0],
            0x102u);
  EXPECT_EQ(run("ld.global.u32 %r1, [real]; ld.global.u32 %r2, [empty]; add.s32 %r1, %r1, %r2; "
                "st.global.u32 [%out], %r1;",
                {0}, 1, before)[0],
            bits(1.5f));
  const auto count = [&] {
    return run(
        "ld.global.u64 %d1, [where]; atom.global.add.u32 %r1, [%d1], 1; mov.u64 %d2, counter; "
        "ld.global.u32 %r1, [%d2]; st.global.u32 [%out], %r1;",
        {0}, 1, before)[0];
  };
  EXPECT_EQ(count(), 41u);
  EXPECT_EQ(count(), 42u);
}

} // namespace
} // namespace kg::ptx_run
