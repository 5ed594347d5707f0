// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/peers.h"

#include "perf/format/sinks.h"
#include "perf/format/units.h"
#include "perf/judge/peers.h"
#include "perf/judge/statistics.h"
#include "perf/report/bar_plot.h"
#include "perf/report/loss_plot.h"
#include "perf/report/rows.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace kg::report {
namespace {

using judge::Measured;

bool failed(const Measured& row) { return !row.verified.empty(); }
bool timed(const Measured& row) { return !failed(row) && row.skipped.empty(); }

// "crash", or otherwise "wrong result".
std::string failure(const Measured& row) {
  const auto tag = row.tags.find("failure");
  return tag == row.tags.end() ? "wrong result" : tag->second;
}

struct Case {
  std::string id;
  double bytes = 0;
  std::map<std::string, const Measured*> rows; // by implementation

  const Measured* fastest() const {
    const Measured* best = nullptr;
    for (const auto& [name, row] : rows)
      if (timed(*row) && (!best || row->median_ns < best->median_ns)) best = row;
    return best;
  }
  // Whether it is the fastest, and no other row's interval overlaps its own.
  bool is_won_by(const Measured& row) const {
    return fastest() == &row && std::none_of(rows.begin(), rows.end(), [&](const auto& other) {
             return other.second != &row && timed(*other.second) &&
                    other.second->ci_ns.low <= row.ci_ns.high;
           });
  }
};

struct Field {
  bool emulated = false; // our kernels are omitted
  std::vector<std::string> names;
  std::vector<Case> cases;
};

Field field_of(const judge::Results& run) {
  Field field;
  const bool host = device_of(run) == judge::Device::host;
  std::set<std::string> given; // cases assigned to a framework
  std::map<std::string, Case> cases;
  for (const Measured& row : run.rows)
    if (row.tags.contains(judge::kPeerTag)) given.insert(row.key.case_id);
  for (const Measured& row : run.rows) {
    if (row.key.mode != judge::Mode::real || !given.contains(row.key.case_id)) continue;
    if (host && row.kind == judge::Kind::ours) {
      field.emulated = true;
      continue;
    }
    Case& its = cases[row.key.case_id];
    its.id = row.key.case_id;
    its.bytes = row.bytes;
    its.rows[row.key.variant] = &row;
    if (std::find(field.names.begin(), field.names.end(), row.key.variant) == field.names.end())
      field.names.push_back(row.key.variant);
  }
  for (auto& [id, its] : cases) field.cases.push_back(std::move(its));
  std::stable_sort(field.cases.begin(), field.cases.end(), [](const Case& a, const Case& b) {
    return judge::op_of(a.id) < judge::op_of(b.id);
  });
  return field;
}

Section about(const judge::Results& run, const Field& field) {
  Section section{"Frameworks beside one another", {}};
  if (device_of(run) == judge::Device::host)
    section.lines = {"On a CPU frameworks stand beside each other and beside libraries of the "
                     "host. Kernels of this suite run on the emulator here, and its times say "
                     "nothing of them: they are left out."};
  section.lines.push_back("What a caller waits, the median of fresh processes' medians; the same "
                          "inputs in each, and each result within what a library may be off.");
  std::map<std::string, std::string> libraries;
  for (const Measured& row : run.rows)
    if (const auto tag = row.tags.find("library"); tag != row.tags.end())
      libraries.emplace(row.key.variant, tag->second);
  for (const auto& [name, library] : libraries)
    section.lines.push_back(fmt::format("{}: {}", name, library));
  std::vector<std::string> header = {"case"};
  header.insert(header.end(), field.names.begin(), field.names.end());
  judge::TextTable table(header);
  for (const Case& its : field.cases) {
    std::vector<std::string> cells = {its.id};
    const Measured* const fastest = its.fastest();
    for (const std::string& name : field.names) {
      const auto row = its.rows.find(name);
      if (row == its.rows.end())
        cells.emplace_back("-");
      else if (!timed(*row->second))
        cells.push_back(failed(*row->second) ? "FAILED: " + failure(*row->second) : "skipped");
      else
        cells.push_back(judge::time_text(row->second->median_ns) +
                        (row->second == fastest ? " *" : ""));
    }
    table.add(cells);
  }
  section.table = std::move(table);
  section.lines.emplace_back("*: the smallest median; -: it does not do this operation");
  return section;
}

// How many times as fast the first is as the second, over the cases that both have.
std::string mean(const Field& field, const std::string& first, const std::string& second) {
  std::vector<double> ratios;
  for (const Case& its : field.cases) {
    const auto a = its.rows.find(first), b = its.rows.find(second);
    if (a == its.rows.end() || b == its.rows.end() || !timed(*a->second) || !timed(*b->second))
      continue;
    ratios.push_back(b->second->median_ns / a->second->median_ns);
  }
  if (ratios.empty()) return "-";
  return fmt::format("{:.2f} ({})", judge::geometric_mean(ratios), ratios.size());
}

Section means(const Field& field) {
  Section section{"Geometric means",
                  {"How many times as fast the line's is as the column's, and in brackets in how "
                   "many cases both have a time."}};
  std::vector<std::string> header = {""};
  header.insert(header.end(), field.names.begin(), field.names.end());
  judge::TextTable table(header);
  for (const std::string& first : field.names) {
    std::vector<std::string> cells = {first};
    for (const std::string& second : field.names)
      cells.push_back(first == second ? "" : mean(field, first, second));
    table.add(cells);
  }
  section.table = std::move(table);
  return section;
}

// Size classes by minimum traffic in bytes, each sixteen times the previous one.
constexpr double kKiB = 1024, kMiB = 1024 * kKiB;
struct Class {
  const char* text;
  double below;
};
constexpr std::array kClasses = {
    Class{"below 64 KiB", 64 * kKiB}, Class{"64 KiB to 1 MiB", kMiB},
    Class{"1 to 16 MiB", 16 * kMiB}, Class{"16 to 256 MiB", 256 * kMiB},
    Class{"256 MiB and more", std::numeric_limits<double>::infinity()}};

const Class& class_of(const Case& its) {
  return *std::find_if(kClasses.begin(), kClasses.end() - 1,
                       [&](const Class& each) { return its.bytes < each.below; });
}

std::string tally(const Field& field, const std::string& name, const Class* of) {
  std::size_t won = 0, undecided = 0, lost = 0, failures = 0;
  for (const Case& its : field.cases) {
    const auto found = its.rows.find(name);
    if (found == its.rows.end() || (of && &class_of(its) != of)) continue;
    const Measured& row = *found->second;
    const Measured* const fastest = its.fastest();
    if (failed(row)) ++failures;
    if (!timed(row)) continue;
    if (its.is_won_by(row))
      ++won;
    else if (row.ci_ns.low <= fastest->ci_ns.high)
      ++undecided;
    else
      ++lost;
  }
  if (won + undecided + lost + failures == 0) return "-";
  return fmt::format("{} / {} / {} / {}", won, undecided, lost, failures);
}

Section by_size(const Field& field) {
  Section section{
      "Won, inconclusive, lost, failed",
      {"By the bytes that a case must move. Inconclusive: its 99 % interval and that of "
       "the fastest overlap."}};
  std::vector<std::string> header = {"size"};
  header.insert(header.end(), field.names.begin(), field.names.end());
  judge::TextTable table(header);
  const auto add = [&](const std::string& title, const Class* of) {
    std::vector<std::string> cells = {title};
    for (const std::string& name : field.names) cells.push_back(tally(field, name, of));
    table.add(cells);
  };
  for (const Class& each : kClasses)
    if (std::any_of(field.cases.begin(), field.cases.end(),
                    [&](const Case& its) { return &class_of(its) == &each; }))
      add(each.text, &each);
  add("all", nullptr);
  section.table = std::move(table);
  return section;
}

// Bars with the logarithm of each time relative to the fastest one's, per case.
std::string pictures(const Field& field) {
  std::vector<BarGroup> groups;
  for (const Case& its : field.cases) {
    BarGroup group{its.id, {}};
    for (const std::string& name : field.names)
      if (const auto row = its.rows.find(name); row != its.rows.end())
        group.bars.push_back({name, timed(*row->second) ? row->second->median_ns : 0,
                              timed(*row->second) ? judge::time_text(row->second->median_ns)
                                                  : failure(*row->second)});
    groups.push_back(std::move(group));
  }
  return "<h2>Times, logarithmic</h2>\n" + bar_plot("Times of each case", groups);
}

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> values;
  std::istringstream words(text);
  for (std::string word; words >> word;) values.push_back(std::strtod(word.c_str(), nullptr));
  return values;
}

// Losses of our implementation and of each framework, for every trained model.
std::string loss_pictures(const Field& field) {
  std::string html;
  for (const Case& its : field.cases) {
    std::vector<LossCurve> curves;
    for (const std::string& name : field.names) {
      const auto row = its.rows.find(name);
      if (row == its.rows.end()) continue;
      const auto& tags = row->second->tags;
      const auto ours = tags.find(judge::kOurLossesTag), theirs = tags.find(judge::kLossesTag);
      if (ours == tags.end() || theirs == tags.end()) continue;
      if (curves.empty()) curves.push_back({"this suite", numbers_of(ours->second)});
      curves.push_back(
          {failed(*row->second) ? name + " (FAILED)" : name, numbers_of(theirs->second)});
    }
    if (!curves.empty())
      html +=
          "<h3>" + judge::for_xml(its.id) + "</h3>\n" + loss_plot("Losses of " + its.id, curves);
  }
  if (html.empty()) return "";
  return "<h2>Losses of training, over each other</h2>\n<p>From the same weights and inputs, "
         "before each step and behind the last; the broadest line was drawn first.</p>\n" +
         html;
}

std::vector<Section> failures(const Field& field) {
  judge::TextTable table({"case", "by", "failure", "what it says"});
  bool any = false;
  for (const Case& its : field.cases)
    for (const auto& [name, row] : its.rows) {
      if (!failed(*row)) continue;
      any = true;
      table.add({its.id, name, failure(*row), row->verified.substr(0, row->verified.find('\n'))});
    }
  if (!any) return {};
  return {{"Failures", {}, table}};
}

} // namespace

std::vector<Section> peer_sections(const judge::Results& run) {
  const Field field = field_of(run);
  if (field.cases.empty()) return {};
  std::vector<Section> sections = {about(run, field), means(field), by_size(field)};
  for (Section& section : failures(field)) sections.push_back(std::move(section));
  return sections;
}

std::string peers_page(const judge::Results& run) {
  const std::vector<Section> sections = peer_sections(run);
  if (sections.empty()) return "";
  std::string body =
      html_of(sections.front()) + pictures(field_of(run)) + loss_pictures(field_of(run));
  for (std::size_t i = 1; i < sections.size(); ++i) body += html_of(sections[i]);
  return html_page("Kernelgrade peers", body);
}

} // namespace kg::report
