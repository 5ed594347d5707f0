// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/remarks.h"

#include "perf/code/resources/compiled.h"
#include "perf/judge/exact_bless.h"
#include "perf/judge/exact_gate.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/judge/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace kg::resources {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::StartsWith;

// As ptxas 13.0 writes.
const std::string kSaid =
    "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine "
    "register count at entry.\n"
    "ptxas info    : (C7519) warpgroup.arrive is injected in around line 7 by compiler to allow "
    "use "
    "of registers in GMMA in function 'looped'\n"
    "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are "
    "serialized due to insufficient register resources for the wgmma pipeline in the function "
    "'looped'\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'looped' for 'sm_90a'\n"
    "ptxas info    : Used 30 registers, used 0 barriers\n";

const std::string kSource = ".version 9.0\n"
                            ".visible .entry looped(\n.param .u64 y\n)\n{\n"
                            ".loc\t2 90 1, function_name $L1, inlined_at 1 12 3\n"
                            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {}, 1, 1;\n"
                            "}\n"
                            ".visible .entry other()\n{\n"
                            ".loc\t1 30 2\nsetmaxnreg.inc.sync.aligned.u32 232;\n"
                            ".loc\t1 31 2\ncall.uni helper, ();\n"
                            "}\n"
                            ".visible .entry third()\n{\nret;\n}\n"
                            ".file\t1 \"gemm.cu\"\n"
                            ".file\t2 \"wgmma.h\"\n";

std::map<std::string, std::string> faults_of(const std::vector<Remark>& remarks) {
  return remark_faults(remarks, kSource, "x.fatbin");
}

TEST(Remarks, HaveTheirCodeWordsAndFunction) {
  const auto remarks = read_remarks(kSaid);
  ASSERT_EQ(remarks.size(), 3u);
  EXPECT_EQ(remarks[0].code, "C7508");
  EXPECT_EQ(remarks[0].words, "Potential Performance Loss: 'setmaxnreg' ignored; unable to "
                              "determine register count at entry");
  EXPECT_EQ(remarks[0].function, "");
  EXPECT_EQ(remarks[1].code, "C7519");
  EXPECT_EQ(remarks[1].function, "looped");
  EXPECT_EQ(remarks[2].code, "C7511");
  EXPECT_EQ(remarks[2].function, "looped");
  EXPECT_THAT(read_remarks(kSaid.substr(kSaid.find("ptxas info    : 0 bytes"))), IsEmpty());
}

TEST(Remarks, TheSerialisedProductComesFirst) {
  const auto faults = faults_of(read_remarks(kSaid));
  EXPECT_THAT(faults, ElementsAre(Key("looped"), Key("other")));
  EXPECT_THAT(faults.at("looped"),
              AllOf(StartsWith("ptxas says C7511: Potential Performance Loss: wgmma.mma_async "
                               "instructions are serialized due to insufficient register"),
                    HasSubstr("in the function 'looped'; look at gemm.cu:12; take a smaller tile"),
                    EndsWith("; 1 more of its remarks are in the log")));
}

TEST(Remarks, OneThatNamesNoKernelCountsAgainstThoseThatCanBeMeant) {
  const auto faults = faults_of(read_remarks(kSaid));
  EXPECT_THAT(faults.at("other"),
              AllOf(StartsWith("ptxas says C7508: "),
                    HasSubstr("register count at entry; look at gemm.cu:30; give the kernel "
                              "__launch_bounds__(threads, 1)")));
  const auto unknown = faults_of({{"C7599", "something new", "elsewhere"}});
  EXPECT_THAT(unknown, ElementsAre(Key("looped"), Key("other"), Key("third")));
  EXPECT_EQ(unknown.at("third"), "ptxas says C7599: something new");
  const auto called = faults_of({{"C7519", "in function 'helper'", "helper"}});
  EXPECT_THAT(called, ElementsAre(Key("other")));
  EXPECT_THAT(called.at("other"), HasSubstr("; look at gemm.cu:31; "));
}

// What nvcc makes of products in a function, and of the same products inlined.
class Products : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(made("called_products.fatbin")))
      GTEST_SKIP() << "nvcc not found, which compiles device code";
  }

  static std::filesystem::path made(const std::string& name) {
    return std::filesystem::path(KERNELGRADE_TEST_FILES) / name;
  }

  void copy(const std::string& stem) {
    for (const char* extension : {".fatbin", ".log"})
      std::filesystem::copy(made(stem + extension), folder_.path());
  }
  std::vector<judge::ExactMeasured> rows() const {
    return compiled_resources(folder_.path(), "sm_90a", "products", {}, KERNELGRADE_TEST_SOURCES);
  }

  // As a baseline would have these rows, had nobody looked at the remarks.
  static judge::ExactResult judged(const std::vector<judge::ExactMeasured>& rows) {
    judge::ExactFile baseline{"sm_90a.csv", true, {}, {}};
    for (const judge::ExactMeasured& row : rows) baseline.rows.push_back(row.row);
    return judge::judge_exact(judge::resource_table(), rows, baseline, {}, {});
  }

  judge::test::Folder folder_;
};

TEST_F(Products, SerialisedOnesFailWithTheRemarkAndTheLine) {
  copy("called_products");
  const auto result = judged(rows());
  EXPECT_EQ(result.exit_code, 1);
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_THAT(
      result.rows[0].message,
      AllOf(StartsWith("products.called: invalid: ptxas says C7510: "),
            HasSubstr("wgmma.mma_async instructions are serialized due to wgmma pipeline crossing "
                      "function boundary at a function call in the function "),
            HasSubstr("; look at called_products.cu:21; make "),
            HasSubstr("; the kernel is at " KERNELGRADE_TEST_SOURCES "/called_products.cu:17")));
  EXPECT_EQ(result.rows[1].key.front(), "products.scaled");
  EXPECT_EQ(result.rows[1].verdict, judge::Verdict::pass) << result.rows[1].message;
}

TEST_F(Products, SerialisedOnesAreNotBlessed) {
  copy("called_products");
  std::vector<judge::ExactMeasured> measured = rows();
  for (auto& one : measured) one.row.values.assign(one.row.values.size(), 0);
  const auto plan =
      judge::plan_exact_bless(judge::resource_table(), measured, {"x.csv", false, {}, {}}, {}, {});
  ASSERT_EQ(plan.entries.size(), 2u);
  EXPECT_EQ(plan.entries[0].action, judge::BlessAction::refused);
  EXPECT_THAT(plan.entries[0].reason, StartsWith("ptxas says C7510"));
  EXPECT_EQ(plan.entries[1].action, judge::BlessAction::added);
}

TEST_F(Products, InlinedOnesPass) {
  copy("inlined_products");
  const auto measured = rows();
  ASSERT_EQ(measured.size(), 1u);
  EXPECT_EQ(measured[0].fault, "");
  EXPECT_EQ(judged(measured).exit_code, 0);
}

TEST_F(Products, ALogThatIsLostOrEmptyIsAnError) {
  std::filesystem::copy(made("called_products.fatbin"), folder_.path());
  EXPECT_THROW(rows(), Error);
  write_file(folder_.path() / "called_products.log", "");
  EXPECT_THROW(rows(), Error);
}

} // namespace
} // namespace kg::resources
