// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Statements as nvcc 13 writes them.
#include "perf/code/resources/ptx.h"

#include "runtime/error.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <initializer_list>

namespace kg::resources {

// For gtest's messages.
void PrintTo(const SplitAccesses& split, std::ostream* out) {
  *out << split.loads << " loads, " << split.stores << " stores";
}

namespace {

std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + "(\n\t.param .u64 " + name +
         "_param_0\n)\n.maxntid 128, 1, 1\n{\n\t.reg .b64 \t%rd<9>;\n\n" + body + "\tret;\n\n}\n";
}

SplitAccesses in(const std::string& body) {
  return split_accesses(".version 9.0\n.target sm_90a\n" + kernel("k", body), "k.ptx").at("k");
}

// Stores of `type` at these offsets from %rd1.
std::string stores(std::initializer_list<int> offsets, const std::string& type = "u32") {
  std::string text;
  for (const int offset : offsets)
    text += "\tst.global." + type + " \t[%rd1" + (offset == 0 ? "" : "+" + std::to_string(offset)) +
            "], %r1;\n";
  return text;
}

const SplitAccesses kNone;
const SplitAccesses kLoad{1, 0};
const SplitAccesses kStore{0, 1};

TEST(SplitAccesses, ARunOf16BytesIsOne) {
  EXPECT_EQ(in(stores({0, 4, 8, 12})), kStore);
  EXPECT_EQ(in(stores({0, 4, 8})), kNone);
  EXPECT_EQ(in(stores({12, 0, 8, 4})), kStore) << "in any order";
  EXPECT_EQ(in(stores({-8, -4, 0, 4})), kStore) << "written as +-8";
  EXPECT_EQ(in(stores({0, 4, 8, 12, 16, 20, 24, 28})), (SplitAccesses{0, 2}));
  EXPECT_EQ(in(stores({0, 4, 8, 12, 16, 20, 24})), kStore) << "28 bytes hold 16 once";
  EXPECT_EQ(in(stores({0, 4, 8, 12, 2048, 2052, 2056, 2060})), (SplitAccesses{0, 2}));
  EXPECT_EQ(in(stores({0, 4, 12, 16})), kNone) << "a gap";
  EXPECT_EQ(in(stores({0, 4, 4, 4})), kNone) << "the same again";
}

TEST(SplitAccesses, EveryNarrowerWidthCounts) {
  EXPECT_EQ(in(stores({0, 2, 4, 6, 8, 10, 12, 14}, "u16")), kStore);
  EXPECT_EQ(in(stores({0, 8}, "f64")), kStore);
  EXPECT_EQ(in(stores({0, 8}, "v2.u32")), kStore);
  EXPECT_EQ(in(stores({0, 4, 8, 12}, "v4.u8")), kStore);
  EXPECT_EQ(in(stores({0, 16}, "v4.f32")), kNone) << "whole";
  EXPECT_EQ(in(stores({0, 16}, "v2.u64")), kNone);
  EXPECT_EQ(in(stores({0, 16}, "b128")), kNone);
  EXPECT_EQ(in(stores({0, 8}, "v2.u32") + stores({16}, "v4.u32")), kStore);
  EXPECT_EQ(in(stores({0, 16}, "v2.u32") + stores({8, 12})), kStore) << "of several widths";
}

TEST(SplitAccesses, QualifiersAreNoDifferenceAndOtherMemoryIs) {
  const auto loads = [](const std::string& opcode) {
    return in("\t" + opcode + " \t%rs1, [%rd1+8];\n\t" + opcode + " \t%rs2, [%rd1+16];\n");
  };
  EXPECT_EQ(loads("ld.global.u64"), kLoad);
  EXPECT_EQ(loads("ld.global.nc.u64"), kLoad);
  EXPECT_EQ(loads("ld.global.nc.L1::no_allocate.L2::128B.v2.f32"), kLoad);
  EXPECT_EQ(loads("ld.volatile.global.u64"), kLoad);
  EXPECT_EQ(loads("ld.shared.u64"), kLoad);
  EXPECT_EQ(loads("ld.local.u64"), kNone);
  EXPECT_EQ(loads("ld.param.u64"), kNone);
  EXPECT_EQ(in("\tst.global.cs.v2.u32 \t[%rd1], {%r1, %r2};\n\tst.global.cs.v2.u32 "
               "\t[%rd1+8], {%r3, %r4};\n"),
            kStore);
  EXPECT_EQ(in("\tred.global.add.u64 \t[%rd1], %rd2;\n\tred.global.add.u64 \t[%rd1+8], %rd2;\n"),
            kNone);
}

TEST(SplitAccesses, OnlyWhatCouldBeOneAccessBelongsTogether) {
  const std::string first = stores({0, 4}), second = stores({8, 12});
  EXPECT_EQ(in(first + "\tadd.f32 \t%f1, %f2, %f3;\n\tbar.sync \t0;\n" + second), kStore);
  EXPECT_EQ(in(first + "\n$L__BB0_2:\n" + second), kNone) << "another block";
  EXPECT_EQ(in(first + "\t@%p1 bra \t$L__BB0_2;\n\n" + second), kNone);
  EXPECT_EQ(in(first + "\tadd.s64 \t%rd1, %rd1, 8;\n" + second), kNone) << "another address";
  EXPECT_EQ(in(first + "\tmov.b64 \t{%r1, %r2}, %rd1;\n" + second), kStore) << "read";
  EXPECT_EQ(in(first + "\tld.global.v2.u64 \t{%rd2, %rd1}, [%rd3];\n" + second), kNone);
  EXPECT_EQ(in("\tst.global.u64 \t[%rd1], %rd4;\n\tst.global.u64 \t[%rd2+8], %rd4;\n"), kNone)
      << "another base";
  EXPECT_EQ(in("\tld.global.u64 \t%rd4, [%rd1];\n\tst.global.u64 \t[%rd1+8], %rd4;\n"), kNone)
      << "a load and a store";
  EXPECT_EQ(in("\tld.global.u64 \t%rd1, [%rd1];\n\tld.global.u64 \t%rd2, [%rd1+8];\n"), kNone)
      << "a pointer that is followed";
}

TEST(SplitAccesses, AGuardIsPartOfWhatBelongsTogether) {
  const std::string first = "\t@%p1 st.global.u64 \t[%rd1], %rd4;\n";
  EXPECT_EQ(in(first + "\t@%p1 st.global.u64 \t[%rd1+8], %rd4;\n"), kStore);
  EXPECT_EQ(in(first + "\t@!%p1 st.global.u64 \t[%rd1+8], %rd4;\n"), kNone);
  EXPECT_EQ(in(first + "\tst.global.u64 \t[%rd1+8], %rd4;\n"), kNone);
  EXPECT_EQ(
      in(first + "\tsetp.ne.s32 \t%p2|%p1, %r1, 0;\n" + "\t@%p1 st.global.u64 \t[%rd1+8], %rd4;\n"),
      kNone)
      << "it may say otherwise now";
}

TEST(SplitAccesses, CommentsScopesAndLinesAreNone) {
  const std::string first = "\tst.global.u64 \t[%rd1], %rd4;\n";
  EXPECT_EQ(in(first + "\t// begin inline asm\n\tst.global.u64 [%rd1+8], %rd4;\n"), kStore);
  EXPECT_EQ(in(first + "\t{ st.global.u64 [%rd1+8], %rd4; }\n"), kStore);
  EXPECT_EQ(in(first + "\t.loc 1 7 3\n\tst.global.u64 [%rd1+8], %rd4;\n"), kStore);
  EXPECT_EQ(in(first + "\t// st.global.u64 [%rd1+8], %rd4;\n"), kNone);
}

// Packs stored through pointers that follow one another, as nvcc 13 does.
TEST(SplitAccesses, AChainOfPointersHoldsOneEach) {
  EXPECT_EQ(in("\tadd.s64 \t%rd1, %rd4, %rd5;\n" + stores({0, 4, 8, 12}) +
               "\tadd.s64 \t%rd1, %rd1, %rd6;\n" + stores({0, 4, 8, 12})),
            (SplitAccesses{0, 2}));
}

TEST(SplitAccesses, EachKernelHasItsOwn) {
  const auto found = split_accesses(kernel("a", stores({0, 4})) + kernel("b", stores({8, 12})) +
                                        kernel("c", stores({0, 4, 8, 12})),
                                    "k.ptx");
  EXPECT_EQ(found.size(), 3u);
  EXPECT_EQ(found.at("a"), kNone);
  EXPECT_EQ(found.at("b"), kNone);
  EXPECT_EQ(found.at("c"), kStore);
  EXPECT_TRUE(split_accesses(".version 9.0\n", "k.ptx").empty());
}

TEST(SplitAccesses, WhatCannotBeReadIsAnError) {
  const std::string whole = kernel("k", stores({0}));
  EXPECT_THROW(split_accesses(whole.substr(0, whole.size() - 3), "k.ptx"), Error);
  EXPECT_THROW(in("\tst.global.u32 \t[%rd1+%rd2], %r1;\n"), Error);
  EXPECT_THROW(in("\tst.global.u32 \t[], %r1;\n"), Error);
}

} // namespace
} // namespace kg::resources
