// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Options and variables that name nothing: folders, devices, operations, rows. Each is a mistake of
// the caller's, and neither a quiet skip nor a success.
#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/hostile/output.h"
#include "tests/unit/perf/cli/world.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace kg::hostile {
namespace {

using cli::test::Cli;
using Call = std::vector<std::string>;

// A variable of the environment, as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// The command with results to read, an empty folder, and a folder of baselines.
class Selections : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cli_({"run", "--in-process", "--json", measured_}).exit_code, 0);
    ASSERT_EQ(cli_({"bless"}).exit_code, 0);
    std::filesystem::create_directory(empty_);
    cli_.made();
  }

  // Refused, in words that can be shown, before anything was measured.
  void expect_refused(const Call& call, const std::string& named = "") {
    std::string whole;
    for (const std::string& word : call) whole += (whole.empty() ? "" : " ") + word;
    SCOPED_TRACE(whole);
    const auto outcome = cli_(call);
    EXPECT_TRUE(outcome.exit_code == 1 || outcome.exit_code == 2)
        << outcome.exit_code << outcome.out << outcome.err;
    EXPECT_NE(outcome.err.find(named), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err, "");
    EXPECT_EQ(fault_of_console(outcome.err), "");
    EXPECT_EQ(cli_.made(), std::vector<std::string>());
    ++refused_;
  }

  // Each command that chooses rows, with what it needs beside.
  std::vector<Call> choosing() const {
    return {{"list"},
            {"run"},
            {"run", "--once"},
            {"gate"},
            {"bless"},
            {"ab", "--base", "HEAD"},
            {"profile"},
            {"selftest", "aa"},
            {"report", measured_}};
  }
  static Call plus(Call call, const Call& more) {
    call.insert(call.end(), more.begin(), more.end());
    return call;
  }

  Cli cli_;
  const std::string measured_ = (cli_.folder.path() / "measured.json").string();
  const std::string empty_ = (cli_.folder.path() / "empty").string();
  const std::string no_folder_ = (cli_.folder.path() / "no/such/folder").string();
  int refused_ = 0;
};

TEST_F(Selections, FoldersThatAreNotThere) {
  for (const std::string& folder : {no_folder_, measured_, std::string("/dev/null"), std::string()})
    for (const Call& call : {Call{"gate"},
                             {"gate", "--cost"},
                             {"gate", "--import", measured_},
                             {"doctor"},
                             {"ceilings"},
                             {"resources"},
                             {"report", measured_}})
      expect_refused(plus(call, {"--baselines", folder}), folder);
  for (const std::string& folder : {no_folder_, measured_, empty_, std::string()})
    for (const Call& call : {Call{"resources"}, {"profile", "--sass"}})
      expect_refused(plus(call, {"--compiled", folder}), folder);
  for (const Call& call : {Call{"run", "--json"},
                           {"gate", "--json"},
                           {"profile", "--json"},
                           {"resources", "--json"},
                           {"compare", measured_, measured_, "--json"},
                           {"merge", measured_, "--json"},
                           {"choose", measured_, "--op", "copy", "--out"},
                           {"selftest", "--out"}})
    for (const std::string& file : {measured_ + "/x.json", std::string("/dev/null/x.json"), empty_})
      expect_refused(plus(call, {file}), file);
  EXPECT_GE(refused_, 60);
}

TEST_F(Selections, WordsOfNothing) {
  for (const Call& call : choosing())
    for (const char* option :
         {"--op", "--category", "--dtype", "--variant", "--mode", "--shape", "--case", "--batch"})
      for (const char* word : {"", ",", " ", "nothing", "FILL", "fill copy"})
        expect_refused(plus(call, {option, word}));
  EXPECT_GE(refused_, 400);
}

// A list of which a script's variable was to be a part.
TEST_F(Selections, ListsWithAnEmptyPart) {
  for (const Call& call : choosing())
    for (const char* list : {"fill,", ",fill", "fill,,copy"}) {
      expect_refused(plus(call, {"--op", list}));
      expect_refused(plus(call, {"--op", "copy", list}));
      expect_refused(plus(call, {std::string("--op=") + list}));
    }
  EXPECT_EQ(refused_, 81);
}

// The same in a file of options, of which the line is named.
TEST_F(Selections, BatchesWithAnEmptyPart) {
  const std::string file = (cli_.folder.path() / "rows").string();
  for (const char* option : {"--op", "--category", "--dtype", "--variant", "--mode", "--shape"})
    for (const char* list : {"fill,", ",fill", "fill,,copy", ",", "''"}) {
      write_file(file, fmt::format("--op fill\n{} {}\n", option, list));
      cli_.made();
      for (const Call& call : {Call{"list"}, {"run"}, {"gate"}, {"bless"}})
        expect_refused(plus(call, {"--batch", file}), "rows:2: ");
    }
  EXPECT_EQ(refused_, 120);
}

// Words that exist, and that no row has together.
TEST_F(Selections, NoRowAtAll) {
  for (const Call& call : choosing())
    for (const Call& none : {Call{"--op", "fill", "--dtype", "f16"},
                             {"--op", "fill", "--variant", "lib"},
                             {"--category", "layout", "--op", "fill"}})
      expect_refused(plus(call, none));
  for (const Call& call :
       {Call{"resources", "--op", "nothing"},
        {"choose", measured_, "--op", "nothing", "--out", empty_ + "/x"},
        {"choose", measured_, "--op", "copy", "--mode", "cold", "--out", empty_ + "/x"},
        {"merge"},
        {"compare", measured_},
        {"study"},
        {"study", "nothing"},
        {"try"},
        {"try", "nothing", measured_},
        {"try", "copy"},
        {"emulate"},
        {"report", measured_, "--of", "0"}})
    expect_refused(call);
  EXPECT_EQ(refused_, 39);
}

TEST_F(Selections, Devices) {
  for (const Call& call : {Call{"run"},
                           {"gate"},
                           {"bless"},
                           {"ab", "--base", "HEAD"},
                           {"profile"},
                           {"selftest", "aa"},
                           {"ceilings"},
                           {"doctor"},
                           {"study", "matmul"}})
    for (const char* device : {"0", "7", "00", "-1", "99999999999999999999", "nvidia-h200", "HOST",
                               "host ", "../host", "host/", " "})
      expect_refused(plus(call, {"--device", device}));
  EXPECT_GE(refused_, 80);
}

// Whatever the command is, and whether or not it would have looked.
TEST_F(Selections, VariablesOfTheEnvironment) {
  const std::vector<std::pair<const char*, std::vector<std::string>>> variables = {
      {"KERNELGRADE_STRICT", {"yes", "2", "01", " ", "-1", "true"}},
      {"KERNELGRADE_REQUIRE_GPU", {"yes", "2", "on"}},
      {"KERNELGRADE_BRIEF", {"yes", "2"}},
      {"KERNELGRADE_CONFIRM", {"yes", "1", "Auto", " auto"}},
      {"KERNELGRADE_SEED", {"abc", "-1", "1.5", "0x10", "18446744073709551616", " 1"}},
  };
  for (const auto& [name, values] : variables)
    for (const std::string& value : values) {
      const Variable variable(name, value);
      for (const Call& call : {Call{"list"},
                               {"run"},
                               {"gate"},
                               {"report", measured_},
                               {"compare", measured_, measured_},
                               {"merge", measured_, "--json", empty_ + "/x"}})
        expect_refused(call, name);
    }
  EXPECT_GE(refused_, 120);
}

// Those of the executor, which a process reads once: each in a process of its own.
TEST_F(Selections, VariablesOfTheExecutor) {
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{
           {"KERNELGRADE_THREAD_ORDER", "backward"},
           {"KERNELGRADE_THREAD_ORDER", "random"},
           {"KERNELGRADE_THREAD_ORDER", "random:"},
           {"KERNELGRADE_THREAD_ORDER", "random:-1"},
           {"KERNELGRADE_THREAD_ORDER", "random:18446744073709551616"},
           {"KERNELGRADE_VIRTUAL_DEVICE", "large"},
           {"KERNELGRADE_VIRTUAL_DEVICE", ""}}) {
    SCOPED_TRACE(std::string(name) + "=" + value);
    const Variable variable(name, value);
    const std::string command = perf::this_executable().string();
    EXPECT_EQ(perf::run_process({command, "list"}, perf::Output::capture).exit_code, 2);
  }
  EXPECT_EQ(perf::run_process({perf::this_executable().string(), "list"}, perf::Output::capture)
                .exit_code,
            0);
}

} // namespace
} // namespace kg::hostile
