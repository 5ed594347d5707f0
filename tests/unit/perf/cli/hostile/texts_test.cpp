// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Every text in every place of a file or of a command line that the command repeats somewhere.
#include "perf/format/sinks.h"
#include "runtime/atomic_file.h"
#include "tests/unit/perf/cli/hostile/output.h"
#include "tests/unit/perf/cli/hostile/texts.h"
#include "tests/unit/perf/cli/world.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::hostile {
namespace {

using cli::test::Cli;
using cli::test::Outcome;
using nlohmann::json;

// What `report` takes.
struct Documents {
  json results, correctness, mutants, builds;
};

struct Place {
  const char* what;
  void (*put)(Documents&, const std::string& text);
};

// A skipped row has no times.
void put_skipped(json& row, const std::string& why) {
  row["skipped"] = why;
  if (why.empty()) return;
  for (const char* time : {"median_ns", "ci_lo_ns", "ci_hi_ns", "process_medians_ns", "samples_ns"})
    row.erase(time);
}

constexpr Place kPlaces[] = {
    {"the device's name",
     [](Documents& d, const std::string& t) { d.results["environment"]["device_name"] = t; }},
    {"the processor",
     [](Documents& d, const std::string& t) { d.results["environment"]["cpu"] = t; }},
    {"the source",
     [](Documents& d, const std::string& t) { d.results["environment"]["source"] = t; }},
    {"a variable of the environment",
     [](Documents& d, const std::string& t) { d.results["environment"]["x" + t] = t; }},
    {"why a row is wrong",
     [](Documents& d, const std::string& t) { d.results["rows"][0]["verified"] = t; }},
    {"why a row is skipped",
     [](Documents& d, const std::string& t) { put_skipped(d.results["rows"][1], t); }},
    {"a row's note", [](Documents& d, const std::string& t) { d.results["rows"][2]["note"] = t; }},
    {"a row's tag",
     [](Documents& d, const std::string& t) { d.results["rows"][2]["tags"]["throttle"] = t; }},
    {"a row's identity",
     [](Documents& d, const std::string& t) { d.results["rows"][3]["identity"] = t; }},
    {"a row's category",
     [](Documents& d, const std::string& t) { d.results["rows"][4]["category"] = "c" + t; }},
    {"a row's case",
     [](Documents& d, const std::string& t) { d.results["rows"][5]["case"] = "copy.f32." + t; }},
    {"a row's variant",
     [](Documents& d, const std::string& t) { d.results["rows"][6]["variant"] = "v" + t; }},
    {"a row's type", [](Documents& d, const std::string& t) { d.results["rows"][7]["dtype"] = t; }},
    {"a test's name",
     [](Documents& d, const std::string& t) {
       d.correctness["testsuites"][0]["testsuite"][0]["name"] = t;
     }},
    {"a test's message",
     [](Documents& d, const std::string& t) {
       d.correctness["testsuites"][0]["testsuite"][0]["failures"][0]["failure"] = t;
     }},
    {"a test's type",
     [](Documents& d, const std::string& t) {
       d.correctness["testsuites"][0]["name"] = "Suite/" + t;
     }},
    {"a test's program",
     [](Documents& d, const std::string& t) { d.correctness["program"] = t + "_test"; }},
    {"a mutant's operation", [](Documents& d, const std::string& t) { d.mutants["op"] = t; }},
    {"a mutant's name",
     [](Documents& d, const std::string& t) { d.mutants["mutants"][0]["mutant"] = t; }},
    {"a mutant's place",
     [](Documents& d, const std::string& t) { d.mutants["mutants"][0]["place"] = t; }},
    {"a mutant's reason",
     [](Documents& d, const std::string& t) { d.mutants["mutants"][0]["why"] = t; }},
    {"a mutant's check",
     [](Documents& d, const std::string& t) { d.mutants["mutants"][0]["check"] = t; }},
    {"a commit", [](Documents& d, const std::string& t) { d.builds["a"] = t; }},
    {"the other commit", [](Documents& d, const std::string& t) { d.builds["b"] = t; }},
    {"why builds differ",
     [](Documents& d, const std::string& t) { d.builds["rows"][0]["reason"] = t; }},
    {"a compared case",
     [](Documents& d, const std::string& t) { d.builds["rows"][0]["case"] = "copy.f32." + t; }},
    {"a compared variant",
     [](Documents& d, const std::string& t) { d.builds["rows"][0]["variant"] = t; }},
};

class Texts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cli_ = new Cli;
    ASSERT_EQ((*cli_)({"run", "--in-process", "--json", file("measured.json")}).exit_code, 0);
    plain_.results = json::parse(*read_file(file("measured.json")));
    plain_.correctness = json::parse(*read_file(cli_->tested("copy", "f32", "3 are wrong")));
    plain_.mutants = {{"op", "copy"},
                      {"mutants",
                       {{{"mutant", "m"},
                         {"place", "copy/copy.cu:3"},
                         {"why", "w"},
                         {"killed", false},
                         {"check", "c"},
                         {"expected", "e"},
                         {"test", "t"},
                         {"message", "m"}}}}};
    plain_.builds = json::parse(R"({"schema": 1, "a": "1a2b", "b": "abc", "seed": 1, "rows": [{
      "case": "copy.f32.n64", "variant": "plain", "mode": "real", "verdict": "regressed", "a_ns": [100], "b_ns": [125],
      "control_ns": [100], "ratio": 0.8, "ratio_interval": [0.79, 0.81], "detectable_pct": 1, "reason": "r"}]})");
  }
  static void TearDownTestSuite() { delete std::exchange(cli_, nullptr); }

  static std::string file(const std::string& name) { return (cli_->folder.path() / name).string(); }
  static std::string write(const std::string& name, const json& document) {
    write_file(file(name), document.dump());
    return file(name);
  }

  static void expect_sound(const Outcome& outcome, int least, int most) {
    EXPECT_GE(outcome.exit_code, least) << outcome.out << outcome.err;
    EXPECT_LE(outcome.exit_code, most) << outcome.out << outcome.err;
    EXPECT_EQ(fault_of_console(outcome.out), "");
    EXPECT_EQ(fault_of_console(outcome.err), "");
  }
  static void expect_sound_files(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file()) {
        const std::string name = entry.path().filename().string();
        EXPECT_EQ(fault_of_file(name, *read_file(entry.path())), "") << name;
      }
  }
  // A report of these documents, all of whose files are read.
  static void expect_sound_report(const Documents& documents) {
    std::filesystem::remove_all(file("report"));
    const Outcome outcome = (*cli_)(
        {"report", write("results.json", documents.results),
         write("correctness.json", documents.correctness), write("mutants.json", documents.mutants),
         write("builds.json", documents.builds), "--out", file("report")});
    expect_sound(outcome, 1, 1);
    if (std::filesystem::exists(file("report"))) {
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file("report")), {}), 11)
          << "ten files and the folder runs";
      expect_sound_files(file("report"));
    }
  }

  static inline Cli* cli_ = nullptr;
  static inline Documents plain_;
};

TEST_F(Texts, AreMany) { EXPECT_GE(texts().size() * std::size(kPlaces), 1000u); }

// All places at once, and each alone where the whole is refused.
TEST_F(Texts, InAReport) {
  expect_sound_report(plain_);
  ASSERT_TRUE(std::filesystem::exists(file("report/summary.md")));
  std::size_t reports = 0;
  for (const Text& text : texts()) {
    if (!text.utf8) continue;
    SCOPED_TRACE(text.what);
    Documents all = plain_;
    for (const Place& place : kPlaces) place.put(all, text.text);
    expect_sound_report(all);
    reports += std::filesystem::exists(file("report"));
    if (std::filesystem::exists(file("report"))) continue;
    for (const Place& place : kPlaces) {
      SCOPED_TRACE(place.what);
      Documents one = plain_;
      place.put(one, text.text);
      expect_sound_report(one);
    }
  }
  EXPECT_GE(reports, 40u) << "else what is tested is the refusal";
}

// JSON is UTF-8: such a file is refused, with words that can be shown, and nothing is written.
TEST_F(Texts, ThatAreNoUtf8InAFile) {
  for (const Text& text : texts()) {
    if (text.utf8) continue;
    SCOPED_TRACE(text.what);
    std::string contents = plain_.results.dump();
    contents.insert(contents.find("\"rows\"") + 1, text.text);
    write_file(file("broken.json"), contents);
    for (const std::vector<std::string>& call :
         {std::vector<std::string>{"report", file("broken.json"), "--out", file("none")},
          {"compare", file("broken.json"), file("measured.json")},
          {"merge", file("broken.json"), "--json", file("none")},
          {"gate", "--import", file("broken.json")},
          {"choose", file("broken.json"), "--out", file("none")}}) {
      SCOPED_TRACE(call.front());
      expect_sound((*cli_)(call), 1, 1);
      EXPECT_FALSE(std::filesystem::exists(file("none")));
    }
  }
}

TEST_F(Texts, InAComparison) {
  for (const Text& text : texts()) {
    if (!text.utf8) continue;
    SCOPED_TRACE(text.what);
    Documents other = plain_;
    for (const Place& place : kPlaces) place.put(other, text.text);
    other.results["environment"]["device"] = plain_.results["environment"]["device"];
    const std::string b = write("b.json", other.results);
    const Outcome plain = (*cli_)({"compare", file("measured.json"), b});
    expect_sound(plain, 0, 77);
    const Outcome markdown = (*cli_)({"compare", file("measured.json"), b, "--markdown"});
    EXPECT_EQ(fault_of_markdown(markdown.out), "");
    EXPECT_EQ(fault_of_console(markdown.err), "");
    const Outcome to_output = (*cli_)({"compare", file("measured.json"), b, "--json", "-"});
    EXPECT_EQ(to_output.exit_code, plain.exit_code);
    EXPECT_TRUE(json::accept(to_output.out)) << to_output.out.substr(0, 200);
    EXPECT_EQ(fault_of_console(to_output.err), "");
  }
}

TEST_F(Texts, OnTheCommandLine) {
  for (const Text& text : texts()) {
    SCOPED_TRACE(text.what);
    if (text.text.empty()) continue;
    for (const std::vector<std::string>& call : {std::vector<std::string>{text.text},
                                                 {"list", "--op", text.text},
                                                 {"list", "--case", text.text},
                                                 {"list", "--variant", text.text},
                                                 {"list", "--mode", text.text},
                                                 {"run", "--shape", text.text, "--op", "copy"},
                                                 {"run", "--device", text.text},
                                                 {"report", text.text},
                                                 {"gate", "--import", text.text},
                                                 {"gate", "--batch", text.text},
                                                 {"ab", "--base", text.text},
                                                 {"compare", text.text, text.text},
                                                 {"selftest", text.text},
                                                 {"study", text.text},
                                                 {"choose", text.text}}) {
      SCOPED_TRACE(call.front());
      expect_sound((*cli_)(call), 1, 2);
    }
  }
}

#if KERNELGRADE_HISTORY
TEST_F(Texts, InTheHistory) {
  for (const Text& text : texts()) {
    if (!text.utf8 || text.text.empty()) continue;
    SCOPED_TRACE(text.what);
    std::filesystem::remove_all(file("history"));
    const json run = {{"environment",
                       {{"source", text.text},
                        {"date_utc", "2026-01-01T00:00:00Z"},
                        {"device", text.text},
                        {"cpu", text.text}}},
                      {"rows",
                       {{{"case", text.text},
                         {"variant", text.text},
                         {"mode", text.text},
                         {"verdict", text.text},
                         {"median_ns", 1},
                         {"ci_lo_ns", 1},
                         {"ci_hi_ns", 1},
                         {"identity", text.text}}}}};
    json next = run;
    next["environment"]["date_utc"] = "2026-01-02T00:00:00Z";
    next["environment"]["cpu"] = "another";
    next["rows"][0]["identity"] = "another";
    expect_sound((*cli_)({"history", "import", write("run.json", run), write("next.json", next),
                          "--db", file("history/x.sqlite")}),
                 0, 0);
    expect_sound((*cli_)({"history", "show", "--db", file("history/x.sqlite")}), 0, 0);
    const Outcome plot = (*cli_)(
        {"history", "plot", "--db", file("history/x.sqlite"), "--out", file("history/plots")});
    if (text.text.size() < 100) // else no file can bear the name
      expect_sound(plot, 0, 0);
    if (std::filesystem::exists(file("history/plots"))) expect_sound_files(file("history/plots"));
  }
}
#endif

} // namespace
} // namespace kg::hostile
