// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/annotations.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <regex>
#include <string_view>
#include <vector>

namespace kg::report {
namespace {

struct Place {
  std::string file; // from the root of the source tree
  std::string line = "1";
};

// The first "<folder>/...:<line>" in a text; paths may have something before them.
std::optional<Place> place_in(const std::string& text, const std::string& folder) {
  const std::regex form("(" + folder + R"(/[\w./-]+):(\d+))");
  std::smatch found;
  if (!std::regex_search(text, found, form)) return std::nullopt;
  return Place{found[1], found[2]};
}

// What ends a command's line or, of a property, its value is written otherwise.
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : text) {
    if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ',')))
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

std::string error(const Place& place, std::string_view title, std::string_view message) {
  return fmt::format("::error file={},line={},title={}::{}\n", escaped(place.file, true),
                     place.line, escaped(title, true), escaped(message, false));
}

void add_tests(std::vector<std::string>& lines, const std::vector<CorrectnessRun>& runs) {
  for (const CorrectnessRun& run : runs)
    for (const Remark& remark : run.failed)
      lines.push_back(error(place_in(remark.message, "tests")
                                .value_or(Place{fmt::format("tests/{}_test.cu", run.op)}),
                            remark.test + " fails", remark.message));
}

void add_mutants(std::vector<std::string>& lines, const std::vector<KillMatrix>& matrices) {
  for (const KillMatrix& matrix : matrices)
    for (const Mutant& mutant : matrix.mutants)
      if (!mutant.killed)
        lines.push_back(error(place_in("kernels/" + mutant.place, "kernels")
                                  .value_or(Place{fmt::format("kernels/{0}/{0}.h", matrix.op)}),
                              mutant.name + " survives", "no test finds this bug: " + mutant.why));
}

void add_counts(std::vector<std::string>& lines, const CountedSection& section) {
  for (const std::size_t i : worst_first(section)) {
    const judge::ExactVerdict& verdict = section.result.rows[i];
    if (verdict.exit_code != judge::kExitFail) continue;
    const judge::ExactRow& row = section.measured[i].row;
    const std::string op = row.key[0].substr(0, row.key[0].find('.'));
    lines.push_back(error(place_in(section.measured[i].site, "kernels")
                              .value_or(Place{fmt::format("kernels/{0}/{0}.h", op)}),
                          fmt::format("{} {}", judge::key_text(row), judge::name(verdict.verdict)),
                          verdict.message));
  }
}

void add_rows(std::vector<std::string>& lines, const judge::GateResult& result) {
  std::vector<const judge::RowResult*> failed;
  for (const judge::RowResult& row : result.rows)
    if (row.exit_code == judge::kExitFail) failed.push_back(&row);
  std::stable_sort(failed.begin(), failed.end(),
                   [](const judge::RowResult* a, const judge::RowResult* b) {
                     return a->ratio.value_or(0) < b->ratio.value_or(0); // none: nothing measured
                   });
  for (const judge::RowResult* row : failed)
    lines.push_back(error({fmt::format("kernels/{0}/{0}.h", row->op)},
                          fmt::format("{} {}", judge::text(row->key), judge::name(row->verdict)),
                          row->message));
}

} // namespace

std::string annotations(const judge::GateResult& result, const CountedSections& counted,
                        const Supplements& supplements) {
  std::vector<std::string> lines;
  add_tests(lines, supplements.correctness);
  add_mutants(lines, supplements.mutants);
  for (const CountedSection& section : counted) add_counts(lines, section);
  add_rows(lines, result);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostAnnotations, lines.size()); ++i) text += lines[i];
  return text;
}

} // namespace kg::report
