// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/findings.h"

#include "runtime/host/check/source_line.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <vector>

namespace kg::check {
namespace {

struct Place {
  std::string text, file; // "k.cu:14", "k.cu"
  int line = 0;           // 0: unknown
};

Place place_of(Site site) {
  Place place{source_line(site), "", 0};
  const std::size_t colon = place.text.rfind(':');
  if (colon == std::string::npos) return place;
  place.file = place.text.substr(0, colon);
  std::from_chars(place.text.data() + colon + 1, place.text.data() + place.text.size(), place.line);
  return place;
}

// Debug information and compilers may give different folders for the same file.
bool same_name(std::string_view a, std::string_view b) {
  return a.substr(a.rfind('/') + 1) == b.substr(b.rfind('/') + 1);
}

} // namespace

std::string repair(const Hint& hint) {
  if (std::string_view(hint.text).find('{') == std::string_view::npos) return hint.text;
  const Place first = place_of(hint.first), second = place_of(hint.second);
  const bool known = first.line != 0 && second.line != 0;
  const bool one_file = known && first.file == second.file;
  const bool one_line = one_file && first.line == second.line;
  const auto [from, to] = std::minmax(first.line, second.line);
  const std::string lines = one_line   ? first.text
                            : one_file ? fmt::format("lines {} and {} of {}", from, to, first.file)
                                       : fmt::format("{} and {}", first.text, second.text);
  const std::string both = !known ? "the two" : one_line ? "the two accesses of " + lines : lines;
  std::string between = "between " + both;
  if (one_line) between += " (in a loop, at its end)";
  // A barrier exists: the threads passed it and conflict in the next iteration of a loop.
  if (one_file && from < hint.barrier.line && hint.barrier.line < to &&
      same_name(hint.barrier.file, first.file))
    between = fmt::format("after line {}, before the loop returns to line {} of {}", to, from,
                          first.file);
  const bool apart = known && !one_line;
  return fmt::format(fmt::runtime(hint.text), fmt::arg("both", both), fmt::arg("between", between),
                     fmt::arg("at", known ? " at " + lines : ""),
                     fmt::arg("first", apart ? first.text : "one of the two"),
                     fmt::arg("second", apart ? second.text : "the other"),
                     fmt::arg("copy", known ? " of " + first.text : ""),
                     fmt::arg("use", known ? second.text : "its destination is used"));
}

const char* name(Fault fault) {
  switch (fault) {
  case Fault::out_of_bounds: return "out-of-bounds";
  case Fault::misaligned: return "misaligned";
  case Fault::freed: return "freed";
  case Fault::uninitialised: return "uninitialised";
  case Fault::race: return "race";
  case Fault::read_only: return "read-only";
  case Fault::proxy: return "proxy";
  case Fault::barrier: return "barrier";
  case Fault::arithmetic: return "arithmetic";
  }
  return "";
}

bool Findings::is_new(Fault fault, Site site, Site other, Hint hint) {
  const auto found = findings_.find({fault, site, other});
  if (found == findings_.end()) return true;
  ++found->second.count;
  if (hint.reach > found->second.hint.reach) found->second.hint = hint;
  return false;
}

void Findings::add(Fault fault, Site site, Site other, std::string text, Hint hint) {
  const std::size_t order = findings_.size();
  findings_[{fault, site, other}] = {1, order, std::move(text), hint};
}

std::string Findings::text() const {
  std::vector<std::pair<Fault, const Finding*>> ordered;
  for (const auto& [key, finding] : findings_) ordered.emplace_back(std::get<0>(key), &finding);
  // For two instructions in both orders, the hint of larger reach serves both findings.
  std::map<const Finding*, Hint> hints;
  for (const auto& [key, finding] : findings_) {
    const auto& [fault, site, other] = key;
    const auto reverse = findings_.find({fault, other, site});
    const bool wider =
        reverse != findings_.end() && reverse->second.hint.reach > finding.hint.reach;
    hints[&finding] = wider ? reverse->second.hint : finding.hint;
  }
  const auto earlier = [](const auto& a, const auto& b) {
    return a.second->order < b.second->order;
  };
  std::sort(ordered.begin(), ordered.end(), earlier);
  if (ordered.size() > kShown) { // the first of each kind is among those that are shown
    std::set<Fault> seen;
    std::stable_partition(ordered.begin(), ordered.end(),
                          [&](const auto& one) { return seen.insert(one.first).second; });
    std::sort(ordered.begin(), ordered.begin() + kShown, earlier);
  }
  std::string text;
  for (std::size_t i = 0; i < ordered.size() && i < kShown; ++i) {
    const auto& [fault, finding] = ordered[i];
    text += fmt::format("{}[{}] {}", i == 0 ? "" : "\n", name(fault), finding->text);
    if (const Hint& hint = hints[finding]; *hint.text != '\0')
      text += fmt::format("\n  hint: {}", repair(hint));
    if (finding->count > 1) text += fmt::format("\n  {} times at these lines", finding->count);
  }
  if (ordered.size() > kShown) text += fmt::format("\nand {} more", ordered.size() - kShown);
  return text;
}

} // namespace kg::check
