// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/findings.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace kg::check {

const char* name(Fault fault) {
  switch (fault) {
  case Fault::out_of_bounds: return "out-of-bounds";
  case Fault::misaligned: return "misaligned";
  case Fault::freed: return "freed";
  case Fault::uninitialised: return "uninitialised";
  case Fault::race: return "race";
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
  // Of two instructions, whichever came first: both ways need what the wider one needs.
  std::map<const Finding*, Hint> hints;
  for (const auto& [key, finding] : findings_) {
    const auto& [fault, site, other] = key;
    const auto reverse = findings_.find({fault, other, site});
    const bool wider =
        reverse != findings_.end() && reverse->second.hint.reach > finding.hint.reach;
    hints[&finding] = wider ? reverse->second.hint : finding.hint;
  }
  std::sort(ordered.begin(), ordered.end(),
            [](const auto& a, const auto& b) { return a.second->order < b.second->order; });
  std::string text;
  for (std::size_t i = 0; i < ordered.size() && i < kShown; ++i) {
    const auto& [fault, finding] = ordered[i];
    text += fmt::format("{}[{}] {}", i == 0 ? "" : "\n", name(fault), finding->text);
    if (const char* hint = hints[finding].text; *hint != '\0')
      text += fmt::format("\n  hint: {}", hint);
    if (finding->count > 1) text += fmt::format("\n  {} times at these lines", finding->count);
  }
  if (ordered.size() > kShown) text += fmt::format("\nand {} more", ordered.size() - kShown);
  return text;
}

} // namespace kg::check
