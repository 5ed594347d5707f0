// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "mov", "cvta", and the control of a thread.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <bit>

namespace kg::test::snippets {

void add_moves(Table& table) {
  const auto move = [&]<class T>(T, const std::string& type) {
    table.push_back(snippet("mov." + type, [](T a) { return a; }));
    table.back().canonical_nan = true; // it moves bits
  };
  for_types<bool, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t,
            std::int64_t, float, double>(move);
  move(std::uint16_t{}, "b16");
  // Packed and taken apart, the first in the low bits.
  table.push_back(snippet(
      "mov.b32",
      [](std::uint16_t low, std::uint16_t high) { return std::uint32_t{high} << 16 | low; },
      "{ .reg .b16 a, b; mov.b32 %o0, {%i0, %i1}; mov.b32 {a, b}, %o0; mov.b32 %o0, {a, b};"
      " .reg .f32 f; mov.b32 f, %o0; mov.b32 %o0, f; }"));
  table.push_back(snippet(
      "mov.b64",
      [](std::uint32_t low, std::uint32_t high) {
        return std::pair(std::uint64_t{high} << 32 | low, std::uint64_t{low} << 32 | high);
      },
      "{ .reg .b32 a, b; mov.b64 %o0, {%i0, %i1}; mov.b64 {a, b}, %o0; mov.b64 %o1, {b, a};"
      " .reg .b16 c, d, e, f; mov.b64 {c, d, e, f}, %o1; mov.b64 %o1, {c, d, e, f}; }"));

  // An address of a space and its generic one name the same memory.
  const auto identity = [](std::uint32_t a) { return a; };
  const auto of_space = [&](const std::string& space, const std::string& declare,
                            const std::string& address) {
    table.push_back(snippet("cvta." + space + ".u64", identity,
                            declare + "mov.u64 %d0, " + address + "; st." + space +
                                ".b32 [%d0], %i0; cvta." + space +
                                ".u64 %d1, %d0; ld.b32 %o0, [%d1];"));
    table.push_back(snippet("cvta.to." + space + ".u64", identity,
                            declare + "mov.u64 %d0, " + address + "; cvta." + space +
                                ".u64 %d1, %d0; st.b32 [%d1], %i0; cvta.to." + space +
                                ".u64 %d2, %d1; ld." + space + ".b32 %o0, [%d2];"));
  };
  of_space("shared", ".shared .align 4 .b8 word[128]; ",
           "word; mul.wide.u32 %d1, %lane, 4; add.s64 %d0, %d0, %d1");
  of_space("local", ".local .align 4 .b8 word[4]; ", "word");
  of_space("global", "", "%out");

  // Of which space a generic address is: here of shared, local and global memory.
  for (const std::string space : {"shared", "local", "global"})
    table.push_back(snippet(
        "isspacep." + space,
        [=](std::uint32_t) {
          return std::array<bool, 3>{space == "shared", space == "local", space == "global"};
        },
        ".shared .align 4 .b8 word[4]; .local .align 4 .b8 own[4]; mov.u64 %d0, word; "
        "cvta.shared.u64 %d0, %d0; mov.u64 %d1, own; cvta.local.u64 %d1, %d1; isspacep." +
            space + " %o0, %d0; isspacep." + space + " %o1, %d1; isspacep." + space +
            " %o2, %out;"));
}

void add_control(Table& table) {
  using s32 = std::int32_t;
  const auto greater = [](s32 a, s32 b) { return a > b ? a : b; };
  table.push_back(snippet("bra", greater,
                          "mov.b32 %o0, %i0; setp.ge.s32 %p0, %i0, %i1; @%p0 bra KEEP; "
                          "mov.b32 %o0, %i1; KEEP:"));
  table.push_back(snippet(
      "bra.uni", [](s32 a) { return a; }, "mov.b32 %o0, %i0; bra.uni OVER; mov.b32 %o0, 0; OVER:"));
  // A lane that has left stores no more.
  for (const std::string leave : {"ret", "exit"})
    table.push_back(snippet(leave, greater,
                            "mov.b32 %o0, %i0; st.global.b32 [%out], %i1; "
                            "setp.lt.s32 %p0, %i0, %i1; @%p0 " +
                                leave + ";"));
  table.push_back(snippet(
      "nanosleep.u32", [](s32 a) { return a; }, "nanosleep.u32 20; mov.b32 %o0, %i0;"));
  table.push_back(snippet(
      "call.uni",
      [](s32 a, s32 b) {
        return static_cast<s32>(3 * static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
      },
      "{ .param .b32 x; .param .b32 y; .param .b32 r; st.param.b32 [x], %i0; "
      "st.param.b32 [y], %i1; call.uni (r), kg_triple, (x, y); "
      "ld.param.b32 %o0, [r]; }"));
  table.back().functions = R"(
.func (.param .b32 kg_result) kg_triple(.param .b32 kg_a, .param .b32 kg_b)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r0, [kg_a];
  ld.param.b32 %r1, [kg_b];
  mad.lo.s32 %r2, %r0, 3, %r1;
  st.param.b32 [kg_result], %r2;
  ret;
})";
  // By its address: of one of two functions, from a table or a register.
  table.push_back(snippet(
      "call",
      [](s32 a, s32 b) {
        const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
        return std::pair(static_cast<s32>((a & 1) != 0 ? 3 * x : x ^ 255),
                         static_cast<s32>((b & 1) != 0 ? 3 * y : y ^ 255));
      },
      "{ .param .b32 x; .param .b32 r; and.b32 %r0, %i0, 1; mov.u64 %d0, kg_table; "
      "mul.wide.u32 %d1, %r0, 8; add.s64 %d0, %d0, %d1; ld.global.u64 %d0, [%d0]; "
      "st.param.b32 [x], %i0; kg_one: .callprototype (.param .b32 _) _ (.param .b32 _); "
      "call (r), %d0, (x), kg_one; ld.param.b32 %o0, [r]; and.b32 %r0, %i1, 1; "
      "setp.ne.s32 %p0, %r0, 0; mov.u64 %d1, kg_thrice; mov.u64 %d2, kg_turned; "
      "selp.b64 %d0, %d1, %d2, %p0; st.param.b32 [x], %i1; call (r), %d0, (x), kg_one; "
      "ld.param.b32 %o1, [r]; }"));
  table.back().functions = R"(
.func (.param .b32 kg_result) kg_thrice(.param .b32 kg_a)
{
  .reg .b32 %r<2>;
  ld.param.u32 %r0, [kg_a];
  mul.lo.s32 %r1, %r0, 3;
  st.param.b32 [kg_result], %r1;
  ret;
}
.func (.param .b32 kg_result) kg_turned(.param .b32 kg_a)
{
  .reg .b32 %r<2>;
  ld.param.u32 %r0, [kg_a];
  xor.b32 %r1, %r0, 255;
  st.param.b32 [kg_result], %r1;
  ret;
}
.global .align 8 .u64 kg_table[2] = {kg_turned, kg_thrice};)";
}

} // namespace kg::test::snippets
