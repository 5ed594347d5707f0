// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade resources of an operation that was not compiled. What it reads of one that was is
// tests/unit/perf/code/resources' and tests/unit/perf/code/sass's.
#include "perf/cli/counted.h"
#include "perf/code/resources/sources.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/world.h"
#include "tests/unit/perf/judge/exact_rows.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliResources : public testing::Test {
 protected:
  // copy is blessed as it is.
  void SetUp() override {
    Options options;
    options.baselines = cli_.baselines();
    std::filesystem::create_directories(compiled() / kName / "copy");
    std::filesystem::create_directories(compiled() / kName / "fill");
    source("kernels/ops/copy/copy.cu", "#include \"ops/copy/copy.h\"\n");
    source("kernels/ops/copy/copy.h", "namespace kg::copy {}\n");
    source("kernels/ops/fill/fill.cu", "\n");
    const std::vector<judge::ExactRow> rows = {judge::test::kernel("copy.plain")};
    judge::save_exact(judge::resource_table(), resource_file(options, kName), rows);
    sources_.path = sources_file(options, kName);
    const std::vector<std::string> files = {"ops/copy/copy.cu", "ops/copy/copy.h"};
    sources_.ops["copy"] = {here_.version.empty() ? "13.0.88" : here_.version, "abc",
                            resources::hash_sources(files, cli_.folder.path() / "kernels", "copy",
                                                    "sm_90a", here_.flags, rows)
                                .value(),
                            files};
    judge::save_sources(sources_);
  }

  void source(const std::string& name, const std::string& text) {
    write_file(cli_.folder.path() / name, text);
  }
  std::filesystem::path compiled() const { return cli_.folder.path() / "compiled"; }
  std::filesystem::path json() const { return cli_.folder.path() / "resources.json"; }
  Outcome run(std::vector<std::string> more) {
    more.insert(more.begin(), {"resources", "--compiled", compiled().string()});
    return cli_(more);
  }

  // An op that must be compiled and was not: it fails, or where nothing could, it is skipped.
  void expect_must_be_compiled(const std::string& why) {
    const Outcome outcome = run({"--op", "copy", "--json", json().string()});
    EXPECT_EQ(outcome.exit_code, here_.version.empty() ? 77 : 1) << outcome.out;
    EXPECT_THAT(outcome.out + outcome.err, HasSubstr(why));
    const Outcome changed = run({"--op", "copy", "--changed"});
    EXPECT_EQ(changed.exit_code, 77);
    EXPECT_EQ(changed.out, "copy\n");
    EXPECT_THAT(changed.err, HasSubstr(why));
  }

  static constexpr const char* kName = "sm_90a-cuda13.0";
  const resources::Compiler here_ = resources::compiler_here();
  judge::SourcesFile sources_;
  Cli cli_;
};

TEST_F(CliResources, WhatIsUnchangedPassesAndSaysThatItWasNotCompiled) {
  const Outcome outcome = run({"--op", "copy", "--json", json().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("copy: not compiled"), HasSubstr("1 pass")));
  const std::string written = read_file(json()).value();
  EXPECT_THAT(written, HasSubstr("\"as_blessed\":\"not compiled"));
  const Outcome changed = run({"--op", "copy", "--changed"});
  EXPECT_EQ(changed.exit_code, 0);
  EXPECT_EQ(changed.out, "");
}

TEST_F(CliResources, WhatNobodyBlessedMustBeCompiled) {
  const Outcome changed = run({"--changed"});
  EXPECT_EQ(changed.exit_code, 77);
  EXPECT_EQ(changed.out, "fill\n");
}

TEST_F(CliResources, AHeaderWithOneTokenMoreMustBeCompiled) {
  source("kernels/ops/copy/copy.h", "namespace kg::copy {};\n");
  expect_must_be_compiled("have changed since abc");
}

TEST_F(CliResources, WithOtherFlagsItMustBeCompiled) {
  setenv("NVCC_APPEND_FLAGS", "-O1", 1);
  expect_must_be_compiled("have changed since abc");
  unsetenv("NVCC_APPEND_FLAGS");
}

TEST_F(CliResources, WithoutTheFileOfSourcesItMustBeCompiled) {
  write_file(sources_.path, "schema,op\n1,copy\n");
  expect_must_be_compiled("sm_90a-cuda13.0.csv");
  std::filesystem::remove(sources_.path);
  if (here_.version.empty()) return; // of nobody's compiler
  expect_must_be_compiled("does not name it");
}

TEST_F(CliResources, ABaselineWithoutTheRowsMustBeCompiled) {
  Options options;
  options.baselines = cli_.baselines();
  std::filesystem::remove(resource_file(options, kName));
  expect_must_be_compiled("have changed since abc");
}

TEST_F(CliResources, OnlyWhatWasCompiledIsBlessed) {
  setenv("KERNELGRADE_NVDISASM", "/bin/true", 1);
  const Outcome outcome = run({"--op", "copy", "--bless"});
  unsetenv("KERNELGRADE_NVDISASM");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("build the target fatbins"), Not(HasSubstr("must be"))));
}

// As if somebody had compiled these products for copy.
TEST_F(CliResources, SerialisedProductsFailByWhatPtxasRemarked) {
  const std::filesystem::path products = KERNELGRADE_COMPILED_PRODUCTS;
  if (here_.version.empty()) GTEST_SKIP() << "nvcc not found, which compiles device code";
  setenv("KERNELGRADE_NVDISASM", "none", 1);
  const auto judged = [&](const std::string& stem) {
    std::filesystem::remove_all(compiled() / kName / "copy");
    std::filesystem::create_directories(compiled() / kName / "copy");
    for (const char* extension : {".fatbin", ".log"})
      std::filesystem::copy(products / (stem + extension), compiled() / kName / "copy");
    return run({"--op", "copy"});
  };
  const Outcome serialised = judged("called_products");
  EXPECT_EQ(serialised.exit_code, 1);
  EXPECT_THAT(serialised.out,
              AllOf(HasSubstr("copy.kg::products::called: invalid: ptxas says C7510: "),
                    HasSubstr("instructions are serialized due to"), HasSubstr("1 invalid")));
  EXPECT_THAT(judged("inlined_products").out, Not(HasSubstr("invalid")));
  std::filesystem::remove(compiled() / kName / "copy" / "inlined_products.log");
  const Outcome lost = run({"--op", "copy"});
  EXPECT_EQ(lost.exit_code, 1);
  EXPECT_THAT(lost.err, HasSubstr("inlined_products.log: no such file; build it again"));
  unsetenv("KERNELGRADE_NVDISASM");
}

} // namespace
} // namespace kg::cli::test
