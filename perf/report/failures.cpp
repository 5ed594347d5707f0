// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/failures.h"

#include "perf/format/sinks.h"
#include "perf/judge/command.h"
#include "perf/judge/exact_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

namespace kg::report {
namespace {

using judge::RowResult;

// Failures in the order added. Further failures with the same key count as alike.
class List {
 public:
  void add(Failure failure, const std::string& key = "") {
    if (!key.empty()) {
      const auto [at, is_new] = places_.emplace(key, all_.size());
      if (!is_new) {
        ++all_[at->second].alike;
        return;
      }
    }
    all_.push_back(std::move(failure));
  }
  std::vector<Failure> take() { return std::move(all_); }

 private:
  std::vector<Failure> all_;
  std::map<std::string, std::size_t> places_;
};

// The first "<folder>/...:<line>" in a text; a path may have a prefix.
std::optional<Place> place_in(const std::string& whole, const std::string& folder) {
  constexpr std::size_t kMost = 2000; // std::regex recurses for every matching character
  const std::string text = whole.substr(0, kMost);
  const std::regex form("(" + folder + R"(/[\w./-]+):(\d+))");
  std::smatch found;
  if (!std::regex_search(text, found, form)) return std::nullopt;
  return Place{found[1], found[2]};
}

Place header_of(const std::string& op) { return {fmt::format("kernels/ops/{0}/{0}.h", op)}; }

void add_tests(List& list, const std::vector<CorrectnessRun>& runs) {
  for (const CorrectnessRun& run : runs)
    for (const Remark& remark : run.failed) {
      const std::string again = test_command(run.op, run.dtype);
      list.add({remark.test, "fails", remark.message, again,
                place_in(remark.message, "tests")
                    .value_or(Place{fmt::format("tests/{}_test.cu", run.op)})},
               again);
    }
}

// CTest's names of tests whose failures the rows and results below explain better.
std::set<std::string> named_anyway(const judge::GateResult& result, const CountedSections& counted,
                                   const Attachments& attachments) {
  std::set<std::string> names;
  for (const CorrectnessRun& run : attachments.correctness)
    if (exit_code(run) == judge::kExitFail) names.insert("correctness." + run.op + "." + run.dtype);
  for (const RowResult& row : result.rows)
    if (row.exit_code == judge::kExitFail) names.insert("perf." + row.op + "." + row.dtype);
  for (const CountedSection& section : counted)
    for (const judge::ExactVerdict& row : section.result.rows) {
      if (row.exit_code != judge::kExitFail) continue;
      const std::string& id = row.key.front(); // "<op>.<dtype>.<shape>", "<op>.<kernel>"
      names.insert("resource." + std::string(judge::op_of(id)));
      names.insert("cost." + id.substr(0, id.find('.', id.find('.') + 1)));
    }
  for (const KillMatrix& matrix : attachments.mutants)
    if (killed(matrix) < matrix.mutants.size()) names.insert("mutants." + matrix.op);
  return names;
}

void add_planned(List& list, const std::vector<PlannedTest>& tests,
                 const std::set<std::string>& named) {
  for (const PlannedTest& test : tests)
    if (test.failed() && !(test.state == TestState::failed && named.contains(test.name)))
      list.add({test.name, std::string(name(test.state)), test.message, test.again, {}});
}

bool is_wrong(const RowResult& row) { return row.verdict == judge::Verdict::invalid; }

// Adds the failing rows that are wrong, or those that are not.
void add_rows(List& list, const judge::GateResult& result, bool wrong) {
  std::vector<const RowResult*> failed;
  for (const RowResult& row : result.rows)
    if (row.exit_code == judge::kExitFail && is_wrong(row) == wrong) failed.push_back(&row);
  std::stable_sort(failed.begin(), failed.end(), [](const RowResult* a, const RowResult* b) {
    return a->ratio.value_or(0) < b->ratio.value_or(0); // no ratio: nothing measured
  });
  for (const RowResult* row : failed) {
    const std::string verdict(judge::name(row->verdict));
    const bool unblessed = row->verdict == judge::Verdict::unblessed;
    list.add({judge::text(row->key), verdict, row->reason,
              judge::row_command(unblessed ? "bless" : "gate", row->op, row->dtype, row->key),
              header_of(row->op)},
             row->reason.empty() ? "" : verdict + row->reason);
  }
}

void add_faults(List& list, const std::vector<std::string>& faults) {
  for (const std::string& fault : faults) list.add({"", "fault", fault, "", {}});
}

void add_mutants(List& list, const std::vector<KillMatrix>& matrices) {
  for (const KillMatrix& matrix : matrices)
    for (const Mutant& mutant : matrix.mutants)
      if (!mutant.killed)
        list.add({fmt::format("{} {}", matrix.op, mutant.name), "survives",
                  "no test finds this bug: " + mutant.why, mutant_command(matrix, mutant),
                  place_in("kernels/" + mutant.place, "kernels").value_or(header_of(matrix.op))});
}

void add_counts(List& list, const CountedSection& section) {
  for (const std::size_t i : worst_first(section)) {
    const judge::ExactVerdict& verdict = section.result.rows[i];
    if (verdict.exit_code != judge::kExitFail) continue;
    const judge::ExactRow& row = section.measured[i].row;
    const std::string& site = section.measured[i].site;
    const std::string op = row.key[0].substr(0, row.key[0].find('.')),
                      word(judge::name(verdict.verdict)),
                      metric = row.key.size() > 2 ? row.key[2] : "";
    list.add({judge::key_text(row), word, verdict.reason, verdict.again,
              place_in(site, "kernels").value_or(header_of(op))},
             site.empty() ? "" : fmt::format("{} {} {} {}", section.name, site, metric, word));
  }
}

void add_comparison(List& list, const SideBySide& compared) {
  std::vector<const ComparedPair*> failed;
  for (const ComparedPair& row : compared.rows)
    if (judge::usual_exit(row.verdict) == judge::kExitFail) failed.push_back(&row);
  std::stable_sort(failed.begin(), failed.end(), [](const ComparedPair* a, const ComparedPair* b) {
    return a->ratio.value_or(0) < b->ratio.value_or(0);
  });
  for (const ComparedPair* row : failed) {
    const std::string& id = row->key.case_id; // "<op>.<dtype>.<shape>"
    const std::size_t op = id.find('.'), dtype = id.find('.', op + 1);
    const std::string again =
        judge::row_command("ab", id.substr(0, op), id.substr(op + 1, dtype - op - 1), row->key);
    list.add({fmt::format("{}, {}", judge::text(row->key), title(compared)),
              std::string(judge::name(row->verdict)), row->reason,
              fmt::format("{} --base {}", again, compared.a), header_of(id.substr(0, op))});
  }
}

void add_study(List& list, const StudyRun& run) {
  for (const StudyRemark& remark : remarks(run))
    if (remark.verdict != "skipped")
      list.add({fmt::format("study {}: {}", run.study->name, remark.name),
                remark.verdict,
                remark.message,
                "",
                {}});
}

// The reason after a list item. Several lines become a block.
std::string why_markdown(const std::string& why) {
  constexpr std::size_t kMost = 600; // per failure; report.html has the complete text
  const std::string text = why.size() <= kMost ? why : why.substr(0, kMost) + "...";
  if (text.find('\n') == std::string::npos) return " " + judge::for_markdown(text);
  return judge::for_markdown_block(text, "  ");
}

} // namespace

std::vector<Failure> failures(const judge::GateResult& result, const CountedSections& counted,
                              const Attachments& attachments) {
  List list;
  add_planned(list, attachments.tests, named_anyway(result, counted, attachments));
  add_tests(list, attachments.correctness);
  add_rows(list, result, true);
  add_faults(list, result.faults);
  for (const CountedSection& section : counted) add_faults(list, section.result.faults);
  add_mutants(list, attachments.mutants);
  for (const CountedSection& section : counted) add_counts(list, section);
  add_rows(list, result, false);
  for (const SideBySide& compared : attachments.comparisons) add_comparison(list, compared);
  for (const StudyRun& run : attachments.studies) add_study(list, run);
  return list.take();
}

std::string markdown(const std::vector<Failure>& failures, std::size_t most) {
  if (failures.empty()) return "";
  std::string text = "### What failed\n\n";
  std::size_t more = 0;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const Failure& failure = failures[i];
    if (i >= most) {
      more += 1 + failure.alike;
      continue;
    }
    const std::string alike =
        failure.alike == 0 ? "" : fmt::format(" and {} more like it", failure.alike);
    text += "-";
    if (!failure.what.empty())
      text +=
          fmt::format(" **{}**{}: {}:", judge::for_markdown(failure.what), alike, failure.verdict);
    text += why_markdown(failure.why);
    if (!failure.again.empty()) text += "  \n  " + judge::for_markdown_code(failure.again);
    text += "\n";
  }
  if (more > 0) text += fmt::format("\n{} more are in report.html.\n", more);
  return text + "\n";
}

} // namespace kg::report
