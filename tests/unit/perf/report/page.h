// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// report.html in a real browser: Chromium without a window, which prints the page as its scripts
// leave it.
#pragma once

#include "perf/report/html.h"
#include "perf/report/report.h"
#include "tests/unit/perf/report/run.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <unistd.h>

namespace kg::report::test {

// The output of a shell command, standard error included.
inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> part;
  while (const std::size_t bytes = fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), bytes);
  pclose(pipe);
  return text;
}

class Page : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (std::system(("command -v " + std::string(name) + " >/dev/null").c_str()) == 0)
        browser_ = name;
    if (browser_.empty()) GTEST_SKIP() << "no Chromium is on PATH; apt install chromium";
    folder_ =
        std::filesystem::temp_directory_path() / ("kernelgrade-page-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // The page of `run` at the address #view; a fault of a script fails the test. `script` runs
  // behind its own.
  std::string shown(const JudgedRun& run, const std::string& view,
                    const CountedSections& counted = {}, const Attachments& attachments = {},
                    const std::string& script = "", const judge::Ceilings& ceilings = {}) {
    std::ofstream(folder_ / "report.html")
        << html(json(run.measured, run.judged, ceilings, counted, attachments)) << "<script>"
        << script << "</script>";
    const std::string text =
        output_of(browser_ + " --headless --no-sandbox --disable-gpu --enable-logging=stderr" +
                  " --user-data-dir='" + (folder_ / "profile").string() + "' --dump-dom 'file://" +
                  (folder_ / "report.html").string() + "#" + view + "'");
    EXPECT_THAT(text, testing::AllOf(testing::Not(testing::HasSubstr("CONSOLE")),
                                     testing::HasSubstr("</html>")));
    const std::string begin_of_title = "<title>";
    const std::size_t title = text.find(begin_of_title) + begin_of_title.size();
    title_ = text.substr(title, text.find("</title>", title) - title);
    // What the scripts made, not their text.
    const std::size_t begin = text.find("<body>");
    const std::string page = text.substr(begin, text.find("id=\"report\"", begin) - begin);
    return std::regex_replace(page, std::regex("<wbr>"), ""); // where names may be broken
  }

  static std::vector<std::string> cases(const std::string& page) {
    std::vector<std::string> found;
    const std::regex cell("<td[^>]*><a href=\"[^\"]*\">([^<]*)</a></td>");
    for (std::sregex_iterator at(page.begin(), page.end(), cell), end; at != end; ++at)
      found.push_back((*at)[1]);
    return found;
  }

  std::string browser_;
  std::string title_; // of the page last shown
  std::filesystem::path folder_;
};

// `mixed` on a GPU of which clocks and memory are known.
inline JudgedRun known_gpu() {
  JudgedRun run = mixed();
  run.measured.environment.insert({{"compute_capability", "8.0"},
                                   {"sm_count", "100"},
                                   {"sm_max_mhz", "1000"},
                                   {"memory_max_mhz", "1000"},
                                   {"memory_bus_bits", "5120"}});
  return run;
}

} // namespace kg::report::test
