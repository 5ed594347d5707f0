// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Of code made from PTX a value that nothing has written is a finding where it is used, and none
// where it is not.
#include "runtime/ptx/library.h"
#include "tests/unit/kernels/runtime/host/check/finding.h"

#include <fmt/format.h>

namespace kg::test {
namespace {

// What the checkers say of 32 threads, of which the first 16 store their number in shared memory
// (line 10). Each loads its word into %r5 (line 11), which is undefined in the last 16; %p1 is true
// in the first 16, %p2 in the last. Then stands `body` (line 12), and each thread stores %r9, which
// is its number where `body` does not say otherwise, in global memory (line 13).
std::string finding_of(const std::string& body, const std::string& functions = "") {
  const std::string text = fmt::format(R"(
.version 9.0
.target sm_90a
.address_size 64
{}
.visible .entry half(.param .u64 half_param_0)
{{
  .shared .align 16 .b8 tile[128];
  .local .align 16 .b8 own[16];
  .reg .pred %p<9>;
  .reg .b16 %rs<4>;
  .reg .b32 %r<20>;
  .reg .f32 %f<4>;
  .reg .b64 %d<9>;
  .loc 1 9 3
  ld.param.u64 %d1, [half_param_0];
  mov.u32 %r1, %tid.x;
  mov.u32 %r9, %r1;
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 2;
  add.s32 %r4, %r2, %r3;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  setp.lt.u32 %p1, %r1, 16;
  not.pred %p2, %p1;
  .loc 1 10 3
  @%p1 st.shared.u32 [%r4], %r1;
  bar.sync 0;
  .loc 1 11 3
  ld.shared.u32 %r5, [%r4];
  .loc 1 12 3
  {}
  .loc 1 13 3
  st.global.u32 [%d3], %r9;
  ret;
}}
  .file 1 "/home/me/half.cu"
)",
                                       functions, body);
  const ptx_run::LoadedKernel kernel = ptx_run::compile(text, "half.ptx", "half");
  Stream stream;
  const auto out = DeviceBuffer<unsigned>::from_host(std::vector<unsigned>(32), stream);
  stream.synchronize();
  const void* pointer = out.data();
  void* arguments[] = {&pointer};
  const std::size_t sizes[] = {sizeof pointer};
  LaunchConfig config{.grid = 1, .block = 32};
  config.shared_bytes = kernel.static_shared_bytes;
  try {
    detail::launch_erased(config, ptx_run::erased(kernel), {arguments, sizes, 1, nullptr, nullptr});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class UndefinedValues : public Checkers {};
INSTANTIATE_TEST_SUITE_P(Orders, UndefinedValues, kOrders, order_name);

// Two functions that nvcc did not inline: one hands its argument back, the other does not look.
const char* const kFunctions = R"(
.func (.param .b32 result) same(.param .b32 given)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r1, [given];
  st.param.b32 [result], %r1;
  ret;
}
.func (.param .b32 result) one(.param .b32 given)
{
  .reg .b32 %r<2>;
  mov.b32 %r1, 1;
  st.param.b32 [result], %r1;
  ret;
}
)";

std::string call(const std::string& function, const std::string& argument) {
  return fmt::format("{{ .param .b32 a; .param .b32 b; st.param.b32 [a], {}; call.uni (b), {}, "
                     "(a); ld.param.b32 %r9, [b]; }}",
                     argument, function);
}

TEST_P(UndefinedValues, AreFoundWhereTheyAreUsed) {
  const struct {
    const char *body, *how;
  } cases[] = {
      {"setp.ne.s32 %p3, %r5, 3; @%p3 bra there; mov.u32 %r9, 1; there:", "branches on"},
      {"setp.ne.s32 %p3, %r5, 3; @%p3 mov.u32 %r9, 1;", "branches on"},
      {"and.b32 %r6, %r5, 60; add.s32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6];",
       "accesses memory at an address from"},
      {"add.s32 %r9, %r5, 1;", "writes to global memory"},
      {"cvt.rn.f32.s32 %f1, %r5; mul.f32 %f1, %f1, 0f40000000; cvt.rzi.s32.f32 %r9, %f1;",
       "writes to global memory"},
      {"mov.b32 {%rs1, %rs2}, %r5; mov.b32 %r9, {%rs2, %rs1};", "writes to global memory"},
      // Chosen, or chosen by.
      {"selp.b32 %r9, 1, %r5, %p1;", "writes to global memory"},
      {"setp.ne.s32 %p3, %r5, 3; selp.b32 %r9, 1, 2, %p3;", "writes to global memory"},
      {"setp.ne.s32 %p3, %r5, 3; and.pred %p4, %p3, %p2; selp.b32 %r9, 1, 2, %p4;",
       "writes to global memory"},
      {"setp.ne.s32 %p3, %r5, 3; or.pred %p4, %p3, %p1; selp.b32 %r9, 1, 2, %p4;",
       "writes to global memory"},
      {"and.b32 %r9, %r5, 255;", "writes to global memory"},
      // Of a vector one element.
      {"and.b32 %r6, %r4, -16; ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6];",
       "writes to global memory"},
      // Around: by shared and by local memory, and by a lane that gave it away.
      {"st.shared.u32 [%r4], %r5; ld.shared.u32 %r9, [%r4];", "writes to global memory"},
      {"st.local.u32 [own+4], %r5; ld.local.u32 %r9, [own+4];", "writes to global memory"},
      {"shfl.sync.bfly.b32 %r9|%p3, %r5, 16, 31, -1;", "writes to global memory"},
      {"shfl.sync.idx.b32 %r6, %r1, %r5, 31, -1;", "chooses a lane by"},
      // What many threads see.
      {"setp.ne.s32 %p3, %r5, 3; vote.sync.ballot.b32 %r9, %p3, -1;", "passes to vote"},
      {"redux.sync.add.s32 %r9, %r5, -1;", "passes to redux"},
      {"red.shared.add.u32 [%r2], %r5;", "passes to red"},
  };
  for (const auto& [body, how] : cases)
    EXPECT_THAT(finding_of(body),
                AllOf(StartsWith("[uninitialised] kernel half"), HasSubstr(how),
                      ContainsRegex("half.cu:1[23]; kernel"), ContainsRegex("half.cu:1[12]: byte"),
                      HasSubstr("of __shared__ tile"), Not(HasSubstr("[race]"))))
        << body;
  EXPECT_THAT(finding_of(call("same", "%r5"), kFunctions),
              AllOf(HasSubstr("writes to global memory"), HasSubstr("half.cu:11: byte")));
}

TEST_P(UndefinedValues, AreNoneWhereTheyAreNotUsed) {
  for (const char* const body : {
           "",
           "add.s32 %r6, %r5, 1;",
           "mov.u32 %r5, 7; mov.u32 %r9, %r5;",
           "@%p1 mov.u32 %r9, %r5;",
           "@%p2 bra there; mov.u32 %r9, %r5; there:",
           "selp.b32 %r9, %r5, 1, %p1;",
           "setp.ne.s32 %p3, %r5, 3; and.pred %p4, %p3, %p1; selp.b32 %r9, 1, 2, %p4;",
           "setp.ne.s32 %p3, %r5, 3; or.pred %p4, %p2, %p3; @%p4 mov.u32 %r9, 1;",
           "selp.b32 %r6, -1, 0, %p1; and.b32 %r9, %r6, %r5;",
           "selp.b32 %r6, 0, -1, %p1; or.b32 %r9, %r6, %r5;",
           // Of a vector the elements that are there.
           "and.b32 %r6, %r1, 1; setp.eq.u32 %p3, %r6, 0; @%p3 st.shared.u32 [%r4], %r1; @%p3 "
           "ld.shared.v2.u32 {%r9, %r8}, [%r4];",
           // Stored where nobody looks, or written over.
           "st.shared.u32 [%r4], %r5;",
           "st.shared.u32 [%r4], %r5; st.shared.u32 [%r4], %r1; ld.shared.u32 %r9, [%r4];",
           "st.local.u32 [own+4], %r5; st.local.u32 [own+4], %r1; ld.local.u32 %r9, [own+4];",
           "st.local.u32 [own+4], %r5; st.local.u32 [own+8], %r1; ld.local.u32 %r9, [own+8];",
           // From the lower half of the lanes.
           "and.b32 %r6, %r1, 15; shfl.sync.idx.b32 %r9|%p3, %r5, %r6, 31, -1;",
       })
    EXPECT_THAT(finding_of(body), IsEmpty()) << body;
  EXPECT_THAT(finding_of(call("one", "%r5"), kFunctions), IsEmpty());
  EXPECT_THAT(finding_of(call("same", "%r1"), kFunctions), IsEmpty());
}

// The shuffle is of the first 16 lanes alone, which take their value from the others.
TEST_P(UndefinedValues, OfLanesThatTakeNoPartAreFoundWhereTheyAreUsed) {
  const std::string shuffle = "@%p1 shfl.sync.bfly.b32 %r6|%p3, %r1, 16, 31, 0xFFFF; ";
  EXPECT_THAT(finding_of(shuffle), IsEmpty());
  EXPECT_THAT(finding_of(shuffle + "selp.b32 %r9, %r1, %r6, %p1;"), IsEmpty());
  EXPECT_THAT(finding_of(shuffle + "@%p1 add.s32 %r9, %r6, 1;"),
              AllOf(StartsWith("[uninitialised] kernel half"),
                    HasSubstr("writes to global memory an undefined value, at "),
                    ContainsRegex("half.cu:13; kernel half.* reads lane [0-9]+ by shfl.sync at "),
                    HasSubstr("half.cu:12: that lane takes no part\n  hint: ")));
}

TEST_P(UndefinedValues, ALoadIsReportedOnce) {
  const std::string found =
      finding_of("setp.ne.s32 %p3, %r5, 3; @%p3 bra there; mov.u32 %r9, 1; there: add.s32 %r9, "
                 "%r5, 1;");
  EXPECT_THAT(found, HasSubstr("branches on"));
  EXPECT_THAT(found, Not(HasSubstr("global memory")));
}

// Atomic updates take the value where they are.
TEST_P(UndefinedValues, AtomicReadsAreReportedAtTheLoad) {
  EXPECT_THAT(finding_of("atom.shared.add.u32 %r7, [%r4], 1;"),
              AllOf(StartsWith("[uninitialised] kernel half"), HasSubstr("reads 4 bytes at"),
                    HasSubstr("half.cu:12: byte")));
}

} // namespace
} // namespace kg::test
