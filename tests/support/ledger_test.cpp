// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ledger.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

const VariantId kNaive{"gemm", "f32", "naive"};
const VariantId kTiled{"gemm", "f32", "tiled"};

// Complete except for one entry.
Ledger without(const VariantId& id, Evidence evidence) {
  Ledger ledger;
  for (const VariantId& variant : {kNaive, kTiled}) {
    for (const Evidence one : kRoundedOperation) {
      ledger.require(variant, one);
      if (variant != id || one != evidence) ledger.add(variant, one);
    }
  }
  return ledger;
}

TEST(Ledger, complete_evidence_misses_nothing) {
  EXPECT_TRUE(Ledger{}.missing().empty());
  EXPECT_TRUE(without({}, Evidence::exact).missing().empty());
}

TEST(Ledger, each_missing_entry_is_named) {
  for (const VariantId& variant : {kNaive, kTiled}) {
    for (const Evidence one : kRoundedOperation) {
      const auto missing = without(variant, one).missing();
      ASSERT_EQ(missing.size(), 1u) << name(one);
      EXPECT_EQ(missing[0].find("gemm.f32, variant " + variant.variant + ": no"), 0u) << missing[0];
    }
  }
}

TEST(Ledger, evidence_of_another_type_or_operation_does_not_count) {
  Ledger ledger = without(kTiled, Evidence::oracle);
  ledger.require({"gemm", "f16", "tiled"}, Evidence::oracle);
  ledger.add({"gemm", "f16", "tiled"}, Evidence::oracle);
  EXPECT_EQ(ledger.missing().size(), 1u);
  ledger.add(kTiled, Evidence::oracle);
  EXPECT_TRUE(ledger.missing().empty());
}

TEST(Ledger, no_vendor_holds_for_all_variants) {
  Ledger ledger;
  ledger.require(kNaive, Evidence::vendor);
  ledger.require(kTiled, Evidence::vendor);
  EXPECT_EQ(ledger.missing().size(), 2u);
  ledger.add({"gemm", "f32", "any"}, Evidence::vendor);
  EXPECT_TRUE(ledger.missing().empty());
}

TEST(Ledger, comparing_without_requiring_is_missing) {
  Ledger ledger;
  ledger.add(kNaive, Evidence::exact);
  ledger.add(kTiled, Evidence::exact);
  const auto missing = ledger.missing();
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].find("gemm.f32: compared, but no coverage is required"), 0u);
}

// Entries of this test, read back from GoogleTest.
TEST(Ledger, is_read_from_the_properties_of_the_tests) {
  const VariantId id{"paint", "f16", "red"};
  require_evidence(id, {Evidence::exact, Evidence::vendor});
  const auto missing_of_paint = [] {
    int count = 0;
    for (const std::string& line : ledger_of(*testing::UnitTest::GetInstance()).missing())
      if (line.find("paint.f16") == 0) ++count;
    return count;
  };
  EXPECT_EQ(missing_of_paint(), 2);
  record(id, Evidence::exact);
  EXPECT_EQ(missing_of_paint(), 1);
  testing::internal::CaptureStdout();
  report_no_vendor("paint", Dtype::f16, "white");
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "paint white f16: no vendor here, the oracle stands alone\n");
  EXPECT_EQ(missing_of_paint(), 0);
}

} // namespace
} // namespace kg::test
