// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma in PTX: its forms, bit by bit against an oracle, and what is refused.
#include "tests/unit/kernels/runtime/executor_support.h"
#include "tests/unit/kernels/runtime/warpgroup/product_oracle.h"

#include <gmock/gmock.h>

namespace kg::warpgroup {
namespace {

using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::HasSubstr;

Product product(const std::string& type, unsigned columns, unsigned swizzle_a = 128,
                unsigned swizzle_b = 128, bool a_by_depth = true, bool b_by_depth = true) {
  Product p;
  p.a_type = p.b_type = type;
  p.sum_type = type == "s8" || type == "u8" ? "s32" : "f32";
  p.columns = columns;
  p.a = packed(swizzle_a, a_by_depth, bytes_of(type), kRows);
  p.b = packed(swizzle_b, b_by_depth, bytes_of(type), columns);
  return p;
}

void expect_right(const Product& p) {
  SCOPED_TRACE(testing::Message() << p.a_type << " x " << p.b_type << ", " << p.sum_type << ", N "
                                  << p.columns << ", swizzles " << p.a.swizzle << " and "
                                  << p.b.swizzle << ", K-major " << p.a.by_depth << " and "
                                  << p.b.by_depth << ", registers " << p.a_in_registers);
  const Input input = random_input(p);
  const std::vector<std::uint32_t> right = expected(p, input);
  under_every_order([&] { ASSERT_EQ(run(p, input), right); });
}

TEST(WgmmaPtx, EveryWidth) {
  for (unsigned columns = 8; columns <= 256; columns += columns < 32 ? 8 : 32)
    expect_right(product("bf16", columns));
}

TEST(WgmmaPtx, EveryLayout) {
  for (const unsigned swizzle : {0u, 32u, 64u, 128u}) {
    expect_right(product("f16", 64, swizzle, 128, true, true));
    expect_right(product("f16", 64, swizzle, 128, false, true));
    expect_right(product("f16", 96, 128, swizzle, true, true));
    expect_right(product("f16", 96, 128, swizzle, true, false));
  }
}

TEST(WgmmaPtx, EveryType) {
  for (const char* type : {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"}) {
    Product p = product(type, 32);
    expect_right(p);
    p.a_in_registers = true;
    expect_right(p);
  }
  Product mixed = product("e4m3", 16);
  mixed.b_type = "e5m2";
  expect_right(mixed);
}

TEST(WgmmaPtx, SumsInHalves) {
  for (const char* type : {"f16", "e4m3"}) {
    Product p = product(type, 64);
    p.sum_type = "f16";
    expect_right(p);
    p.steps = 2;
    p.adds = false;
    expect_right(p);
  }
}

TEST(WgmmaPtx, ScalesAndChains) {
  Product p = product("bf16", 64, 128, 64, true, false);
  p.adds = false;
  expect_right(p);
  p.steps = 2;
  expect_right(p);
  p.adds = true;
  p.a_in_registers = true;
  expect_right(p);
  p.sign_a = -1;
  expect_right(p);
  p.sign_b = -1;
  p.sign_a = 1;
  expect_right(p);
}

// --- What is wrong

std::string found(const Product& p, const std::string& before = kFenced,
                  const std::string& behind = kWaited, unsigned threads = kThreads) {
  std::string all;
  under_every_order(
      [&] { all += error_of([&] { run(p, random_input(p), before, behind, threads); }) + "\n"; });
  return all;
}

const Product kPlain = product("bf16", 16);
Product in_registers() {
  Product p = kPlain;
  p.a_in_registers = true;
  return p;
}
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";

TEST(WgmmaPtx, GoodTwinsAreSilent) {
  EXPECT_EQ(found(kPlain), "\n\n\n\n\n");
  EXPECT_EQ(found(in_registers()), "\n\n\n\n\n");
  // Sums are copied while they are pending, as where nvcc joins the ways into a loop.
  EXPECT_EQ(found(kPlain, kFenced, "mov.f32 %s90, %s1; mov.f32 %s1, %s90;\n" + kWaited),
            "\n\n\n\n\n");
}

TEST(WgmmaPtx, CopiesOfPendingSumsGetTheirValue) {
  const Input input = random_input(kPlain);
  const auto right = expected(kPlain, input);
  under_every_order([&] {
    const auto sums =
        run(kPlain, input, kFenced, "mov.f32 %s90, %s1; " + kWaited + "mov.f32 %s1, %s90;\n");
    EXPECT_EQ(sums, right);
  });
}

TEST(WgmmaPtx, SumsBeforeTheWait) {
  EXPECT_THAT(found(kPlain, kFenced, kCommit),
              AllOf(HasSubstr("a sum of the wgmma at product.ptx:"),
                    HasSubstr("is read while that is pending")));
  EXPECT_THAT(found(kPlain, kFenced, kCommit + "wgmma.wait_group.sync.aligned 1;\n"),
              HasSubstr("is read while that is pending"));
  EXPECT_THAT(found(kPlain, kFenced, "mov.f32 %s3, 0f00000000; " + kWaited),
              AllOf(HasSubstr("a sum of the wgmma at product.ptx:"),
                    HasSubstr("was written while that was pending")));
  EXPECT_THAT(found(kPlain, kFenced, "wgmma.wait_group.sync.aligned 0;\n"), // not committed
              HasSubstr("is read while that is pending"));
}

TEST(WgmmaPtx, RegistersOfABeforeTheWait) {
  EXPECT_THAT(found(in_registers(), kFenced, "add.u32 %a2, %a2, 1; " + kWaited),
              HasSubstr("a register of A of the wgmma at product.ptx:"));
}

TEST(WgmmaPtx, FencesOfRegisters) {
  const std::string unfenced = "fence.proxy.async.shared::cta; bar.sync 0;\n";
  EXPECT_THAT(found(kPlain, unfenced), HasSubstr("without a wgmma.fence before"));
  Product twice = in_registers();
  twice.steps = 2;
  const std::string body = "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%s0, %s1, %s2, "
                           "%s3, %s4, %s5, %s6, %s7}, {%a0, %a1, %a2, %a3}, %q5, %z, 1, 1, 0;\n";
  const std::string fence = "wgmma.fence.sync.aligned;\n";
  for (const std::string changed : {"add.f32 %s2, %s2, %s2; ", "add.u32 %a1, %a1, 7; "}) {
    EXPECT_THAT(found(in_registers(), kFenced, kWaited + changed + body + kWaited),
                HasSubstr("has been written since the last wgmma.fence"));
    EXPECT_EQ(found(in_registers(), kFenced, kWaited + changed + fence + body + kWaited),
              "\n\n\n\n\n");
  }
  // What has not been changed needs none.
  EXPECT_EQ(found(in_registers(), kFenced, kWaited + body + kWaited), "\n\n\n\n\n");
}

TEST(WgmmaPtx, NotAllOfTheWarpgroup) {
  EXPECT_THAT(found(kPlain, kFenced, kWaited, 64), HasSubstr("the block has 64 threads"));
  EXPECT_THAT(found(kPlain, kFenced + "setp.lt.u32 %p2, %lane, 96; @!%p2 ret;\n"),
              HasSubstr("have ended without executing the wgmma at product.ptx:"));
}

TEST(WgmmaPtx, UnequalOperands) {
  const std::string other = "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%s0, %s1, %s2, "
                            "%s3, %s4, %s5, %s6, %s7}, %q4, %q5, %z, 1, 1, 0, 0;\n";
  EXPECT_THAT(found(kPlain, kFenced,
                    "shr.u32 %w4, %lane, 6; cvt.u64.u32 %q6, %w4; add.s64 %q5, %q5, %q6;\n" +
                        other + kWaited),
              HasSubstr("do not give it the same descriptors"));
}

TEST(WgmmaPtx, DescriptorsOutOfPlace) {
  Product p = kPlain;
  p.b.stride = 16384 * 4; // from 8 columns to the next
  EXPECT_THAT(found(p),
              AllOf(HasSubstr("B ends at byte"), HasSubstr("of which the block has 65536")));
  p = kPlain;
  p.a.swizzle = 32;
  p.a.leading = 16;
  EXPECT_NE(run(p, random_input(p)), expected(kPlain, random_input(kPlain)));
}

TEST(WgmmaPtx, NeverWaitedFor) {
  EXPECT_THAT(found(kPlain, kFenced, kCommit + "ret;\n"),
              HasSubstr("the block has ended while this wgmma is pending"));
}

TEST(WgmmaPtx, RefusedForms) {
  Product p = kPlain;
  p.columns = 12;
  EXPECT_THAT(found(p), HasSubstr("the shape m64n12k16 is not executed"));
  p = kPlain;
  p.sum_type = "f16";
  EXPECT_THAT(found(p), HasSubstr("these types are not multiplied"));
  p = product("e4m3", 16);
  p.b.by_depth = false;
  EXPECT_NE(found(p), ""); // it has no operand for that
}

} // namespace
} // namespace kg::warpgroup
