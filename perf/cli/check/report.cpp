// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/report.h"
#include "perf/cli/candidate/sandbox.h"

#include "perf/code/cost/profile.h"
#include "perf/code/coverage/coverage.h"
#include "perf/code/coverage/fidelity.h"
#include "perf/format/sinks.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kg::program {
namespace {

std::string count_of(std::uint64_t number, const char* one, const char* several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

// The number of launches and orders, and the time.
std::string extent(const Verdict& verdict, bool huge) {
  double seconds = 0;
  for (const Run& run : verdict.runs) seconds += run.seconds;
  const std::uint64_t launches = verdict.runs.empty() ? 0 : verdict.runs.front().events.launches;
  const std::size_t orders = verdict.runs.size();
  return fmt::format("{}{}{}; {:.1f} s to compile, {:.1f} s to run",
                     count_of(launches, "launch", "launches"),
                     orders > 1 ? fmt::format(" in {} orders of threads", orders) : "",
                     huge ? ", large grids in part" : "", verdict.compile_seconds, seconds);
}

} // namespace

std::vector<Finding> Verdict::findings() const {
  std::vector<Finding> all;
  for (const Run& run : runs)
    for (const Finding& finding : run.events.findings)
      if (std::none_of(all.begin(), all.end(), [&](const Finding& known) {
            const bool note_again = !finding.fails && !known.fails && !finding.places.empty() &&
                                    known.places == finding.places;
            return known.text == finding.text || note_again;
          }))
        all.push_back(finding);
  std::stable_partition(all.begin(), all.end(), [](const Finding& one) { return one.fails; });
  // A program that was stopped had no time to read its results.
  if (!failure().empty() || (!all.empty() && all.front().fails))
    std::erase_if(all, [](const Finding& one) { return one.rule == "unread"; });
  return all;
}

coverage::Notes Verdict::notes() const {
  coverage::Notes all;
  for (const Run& run : runs) all.add(run.notes);
  return all;
}

std::string Verdict::failure() const {
  for (const Run& run : runs)
    if (std::string why = run.failure(); !why.empty()) return why;
  return runs.empty() ? "the program did not run" : "";
}

bool Verdict::passed() const {
  const std::vector<Finding> all = findings();
  return failure().empty() &&
         std::none_of(all.begin(), all.end(), [](const Finding& one) { return one.fails; });
}

std::string text_of(const Verdict& verdict, const Options& options) {
  std::string text;
  std::size_t failing = 0;
  for (const Finding& finding : verdict.findings()) {
    failing += finding.fails;
    text += (finding.fails ? "" : "note: ") + judge::printable(finding.text) + "\n";
  }
  if (verdict.costs) text += (text.empty() ? "" : "\n") + cost::kernels_text(*verdict.costs);
  if (!verdict.advice.empty()) text += "\n" + cost::advice_text(verdict.advice);
  const coverage::Notes notes = verdict.notes();
  const std::string ending =
      coverage::coverage_text(notes, std::filesystem::current_path().string()) +
      coverage::fidelity_text(notes.inexact);
  if (!ending.empty()) text += (text.empty() ? "" : "\n") + judge::printable(ending);
  if (!text.empty()) text += "\n";
  if (options.huge && !verdict.runs.empty() && verdict.runs.back().finished.exit_code != 0)
    text +=
        fmt::format("note: the program ended with exit code {}, which does not count with --huge\n",
                    verdict.runs.back().finished.exit_code);
  if (verdict.passed())
    return text + fmt::format("passed: {} ({})\n",
                              options.fast ? "the program's own verdict; --fast checks nothing"
                                           : "no findings",
                              extent(verdict, options.huge));
  if (!verdict.runs.empty() && verdict.runs.back().timed_out && !options.huge)
    text +=
        "hint: give the program a smaller input, or more time (--timeout); --huge runs grids of "
        "more than 4096 blocks in part\n";
  if (verdict.runs.size() > 1)
    text += fmt::format("The first order of threads that shows it: --order {}\n",
                        verdict.runs.back().order);
  std::string why = failing > 0 ? count_of(failing, "finding", "findings") : "";
  if (const std::string failure = verdict.failure(); !failure.empty())
    why += (why.empty() ? "" : "; ") + failure;
  return text + fmt::format("FAILED: {} ({})\n", why, extent(verdict, options.huge));
}

std::string json_of(const Verdict& verdict, const Options& options) {
  using Json = nlohmann::json;
  Json findings = Json::array(), runs = Json::array(), sources = Json::array();
  for (const std::filesystem::path& source : options.sources) sources.push_back(source.string());
  for (const Finding& finding : verdict.findings()) {
    Json places = Json::array();
    for (const Place& place : finding.places)
      places.push_back({{"file", place.file}, {"line", place.line}});
    findings.push_back({{"rule", finding.rule},
                        {"fails", finding.fails},
                        {"kernel", finding.kernel},
                        {"text", finding.text},
                        {"hint", finding.hint},
                        {"places", places}});
  }
  for (const Run& run : verdict.runs)
    runs.push_back({{"order", run.order},
                    {"exit_code", run.finished.exit_code},
                    {"signal", run.finished.signal},
                    {"timed_out", run.timed_out},
                    {"launches", run.events.launches},
                    {"seconds", run.seconds}});
  Json json = {{"schema", 1},
               {"sources", sources},
               {"checked", !options.fast},
               {"huge", options.huge},
               {"passed", verdict.passed()},
               {"failure", verdict.failure()},
               {"sandbox", candidate::sandbox().on},
               {"compile_seconds", verdict.compile_seconds},
               {"runs", runs},
               {"findings", findings},
               {"coverage", coverage::notes_json(verdict.notes())}};
  if (verdict.costs)
    json["costs"] = cost::kernels_text(*verdict.costs) + cost::advice_text(verdict.advice);
  return judge::for_json(json, 2) + "\n";
}

} // namespace kg::program
