// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/experiments.h"

#include "perf/format/csv.h"
#include "runtime/error.h"

#include <cmath>
#include <fmt/format.h>
#include <set>
#include <string_view>

namespace kg::selftest {
namespace {

constexpr int kCreepSteps = 5;
constexpr double kCreepPercent = 1.5;
constexpr std::size_t kLoadedRows = 4;

std::string injected(const std::string& prefix, double percent) {
  return fmt::format("{}_{:g}", prefix, percent);
}

void add_injections(std::string_view list, std::vector<Treatment>& treatments) {
  for (bool more = true; more;) {
    const std::size_t comma = list.find(',');
    const std::string_view text = list.substr(0, comma);
    const auto percent = judge::parse_number(text);
    if (!percent || !(*percent > 0 && *percent <= 100))
      throw Error(fmt::format("inject={}: expected percent above 0 and up to 100, got '{}'; write "
                              "inject=3,5,10",
                              list, text));
    treatments.push_back({injected("inject", *percent), *percent});
    more = comma != list.npos;
    if (more) list.remove_prefix(comma + 1);
  }
}

Group noisy(const std::string& name, const std::string& noise) {
  return {noise,
          false,
          0,
          {{name, 0}, {injected(name + "_inject", 5), 5}, {injected(name + "_inject", 10), 10}}};
}

} // namespace

std::vector<Group> parse_experiments(const std::vector<std::string>& words) {
  constexpr std::string_view kInject = "inject=";
  Group quiet;
  std::vector<Group> others;
  std::set<std::string> seen;
  for (const std::string& word : words) {
    const bool inject = word.starts_with(kInject);
    if (!seen.insert(inject ? std::string(kInject) : word).second)
      throw Error(fmt::format("the experiment '{}' is named twice; name it once", word));
    if (word == "aa") {
      // The second measurement is the reference for the other tools' rules, and serves as an
      // equally good check.
      quiet.treatments.insert(quiet.treatments.begin(), 2, {"aa", 0});
    } else if (inject) {
      add_injections(std::string_view(word).substr(kInject.size()), quiet.treatments);
    } else if (word == "creep") {
      for (int step = 1; step <= kCreepSteps; ++step)
        quiet.treatments.push_back(
            {"creep", 100 * (std::pow(1 + kCreepPercent / 100, step) - 1), step});
    } else if (word == "load") {
      others.push_back({"", true, kLoadedRows, {{"load", 0}}});
    } else if (word == "bimodal") {
      others.push_back(noisy(word, "bimodal:6"));
    } else if (word == "wild") {
      others.push_back(noisy(word, "wild:0.03"));
    } else {
      throw Error(fmt::format("unknown experiment '{}'; use aa, inject=<percent>,..., creep, "
                              "load, bimodal or wild",
                              word));
    }
  }
  if (!quiet.treatments.empty()) others.insert(others.begin(), quiet);
  if (others.empty()) throw Error("no experiment is named; try: aa inject=3,5,8,10,20");
  return others;
}

} // namespace kg::selftest
