// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/findings.h"

#include "runtime/error.h"
#include "runtime/event_file.h"

#include <algorithm>
#include <charconv>
#include <regex>

namespace kg::program {
namespace {

// Shortens paths below the current folder to relative ones.
std::string shortened(std::string text, const std::string& folder) {
  const std::string beginning = folder + "/";
  for (std::size_t at = text.find(beginning); at != text.npos; at = text.find(beginning, at))
    text.erase(at, beginning.size());
  return text;
}

std::string rule_of(std::string_view text) {
  if (text.starts_with("[")) return std::string(text.substr(1, text.find(']') - 1));
  constexpr std::pair<std::string_view, const char*> kWords[] = {
      {"deadlock in ", "deadlock"},      {"divergent barrier in ", "divergent-barrier"},
      {"assertion failed", "assertion"}, {"shared memory overrun in ", "out-of-bounds"},
      {"launch of ", "launch-refused"},  {" mask ", "mask"}};
  for (const auto& [words, rule] : kWords)
    if (text.find(words) != text.npos) return rule;
  return "fault";
}

std::vector<Place> places_of(const std::string& text) {
  static const std::regex kPlace(R"( at (\S[^\n]*?):([0-9]{1,9})(?=[:;,\n ]|$))");
  static const std::regex kBeginning(R"(^(\S[^\n]*?):([0-9]{1,9}): launch of )");
  std::vector<Place> places;
  const auto add = [&](const std::smatch& match) {
    places.push_back({match[1], std::stoi(match[2])});
  };
  std::smatch first;
  if (std::regex_search(text, first, kBeginning)) add(first);
  for (std::sregex_iterator match(text.begin(), text.end(), kPlace), end; match != end; ++match)
    add(*match);
  return places;
}

Finding finding_of(std::string text) {
  Finding finding;
  finding.rule = rule_of(text);
  finding.fails = finding.rule != "leak" && finding.rule != "unread";
  constexpr std::string_view kHint = "\n  hint: ";
  const std::size_t hint = text.find(kHint);
  if (hint != text.npos)
    finding.hint =
        text.substr(hint + kHint.size(), text.find('\n', hint + 1) - hint - kHint.size());
  // For a block, a launch, or a stream.
  static const std::regex kKernel(
      R"((?:kernel|launch of) (.+?)(?:, block \(|: | (?:reads|writes|accesses|allocates|frees) ))");
  std::smatch kernel;
  if (std::regex_search(text, kernel, kKernel)) finding.kernel = kernel[1];
  finding.places = places_of(text.substr(0, hint));
  finding.text = std::move(text);
  return finding;
}

// In a fault's text, each line without leading blanks begins a finding.
void add_findings(std::string_view text, const std::string& folder,
                  std::vector<Finding>& findings) {
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    while (end != text.npos && end + 1 < text.size() && text[end + 1] == ' ')
      end = text.find('\n', end + 1);
    const std::string_view one = text.substr(0, end);
    if (one.starts_with("and ") && one.ends_with(" more") && !findings.empty())
      findings.back().text += "\n" + std::string(one); // the checkers show the first few
    else
      findings.push_back(finding_of(shortened(std::string(one), folder)));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

} // namespace

Events read_events(std::string_view file, const std::string& folder) {
  Events events;
  for (const ProgramEvent& event : events_in(file)) {
    if (event.kind == kLaunchesEvent) {
      std::uint64_t launches = 0;
      std::from_chars(event.text.data(), event.text.data() + event.text.size(), launches);
      events.launches += launches; // per process
    } else if (event.kind == kUndefinedEvent) {
      add_findings(event.text, folder, events.undefined_loads);
    } else if (event.kind == kResultsEvent) {
      events.results += std::string(event.text) + "\n"; // per process
    } else if (!is_note(event.kind)) {
      add_findings(event.text, folder, events.findings);
    }
  }
  return events;
}

} // namespace kg::program
