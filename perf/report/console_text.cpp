// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/console_text.h"

#include "perf/format/sinks.h"
#include "perf/judge/summary.h"
#include "perf/report/failures.h"
#include "perf/report/headline.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace kg::report {
namespace {

// The first line of a text, limited in length for the console.
std::string first_line(const std::string& text) {
  constexpr std::size_t kMost = 300;
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= kMost ? line : line.substr(0, kMost) + "...";
}

std::string failed_text(const std::vector<Failure>& failed, const std::string& page,
                        std::size_t most) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(most, failed.size()); ++i) {
    const Failure& each = failed[i];
    std::string text = "FAIL: ";
    if (!each.what.empty()) text += fmt::format("{}: {}: ", each.what, each.verdict);
    text += first_line(each.why);
    if (each.alike > 0) text += fmt::format(" (and {} more like it)", each.alike);
    if (!each.again.empty()) text += fmt::format("; again: {}", each.again);
    lines.push_back(std::move(text));
  }
  if (failed.size() > most)
    lines.push_back(fmt::format("and {} more failures: {}", failed.size() - most, page));
  std::string text;
  for (const std::string& each : lines) text += judge::for_console(each) + "\n";
  return text;
}

} // namespace

std::string emulated_timings_line(const judge::GateResult& result) {
  std::size_t passed = 0, slower = 0, undecided = 0, vendors = 0;
  for (const judge::RowResult& row : result.rows) {
    if (row.exit_code == judge::kExitFail)
      ++slower;
    else if (row.informs)
      ++vendors;
    else if (row.exit_code == judge::kExitPass)
      ++passed;
    else
      ++undecided;
  }
  std::string text =
      fmt::format("timings of the emulator on this CPU (not a GPU's): {} unchanged", passed);
  if (slower > 0) text += fmt::format(", {} failed", slower);
  if (undecided > 0) text += fmt::format(", {} undecided", undecided);
  if (vendors > 0) text += fmt::format("; {} of libraries are informational", vendors);
  return text;
}

std::string console_text(const judge::Results& run, const judge::GateResult& result,
                         const CountedSections& counted, const Attachments& attachments,
                         const std::string& page, std::size_t most) {
  const judge::Summary summary = judge::summarise(result);
  std::string text = failed_text(failures(result, counted, attachments), page, most);
  if (!text.empty()) text += "\n";
  const bool emulated = device_of(run) == judge::Device::host;
  if (!emulated) text += judge::plain_text(summary, result);
  for (const std::string& each : lines(attachments)) text += judge::for_console(each) + "\n";
  for (const CountedSection& section : counted) text += judge::for_console(line(section)) + "\n";
  if (emulated && !result.rows.empty()) text += emulated_timings_line(result) + "\n";
  if (emulated)
    for (std::size_t i = 0; i < std::min(most, result.notes.size()); ++i)
      text += "note: " + judge::for_console(result.notes[i]) + "\n";
  return text + judge::for_console(headline(run, result, counted, attachments)) + "\n";
}

} // namespace kg::report
