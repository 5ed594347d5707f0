// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade ab: this build against another commit, measured side by side.
#include "perf/cli/commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/reference.h"
#include "perf/format/sinks.h"
#include "perf/format/table.h"
#include "perf/format/units.h"
#include "perf/judge/command.h"
#include "perf/measure/ab/compare_builds.h"
#include "perf/measure/ab/git.h"
#include "perf/measure/ab/listed_rows.h"
#include "perf/measure/ab/reference_build.h"
#include "runtime/atomic_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

namespace kg::cli {
namespace {

using judge::RowKey;
using judge::Verdict;

constexpr double kTolerancePct = 2; // default of --tol-pct

// A filter as command-line options.
std::vector<std::string> arguments(const Filter& filter) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::vector<std::string>& list) {
    if (list.empty()) return;
    words.push_back(option);
    words.push_back(fmt::format("{}", fmt::join(list, ",")));
  };
  add("--op", filter.ops);
  add("--category", filter.categories);
  add("--dtype", filter.dtypes);
  add("--shape", filter.shapes);
  add("--variant", filter.variants);
  add("--mode", filter.modes);
  if (filter.fast) words.push_back("--fast");
  return words;
}

// The rows that both builds have, and those that only one has.
struct Sides {
  std::vector<ab::Candidate> both;
  std::vector<RowKey> here;
  std::vector<RowKey> reference;
};

Sides sides(const Options& options, const Selection& selection,
            const std::filesystem::path& reference) {
  std::set<RowKey> there;
  for (const Filter& filter : options.filters)
    there.merge(ab::listed_rows(reference, arguments(filter)));
  Sides result;
  for (const Row& row : selection.rows) {
    const judge::Registered& about = row.registered;
    const bool in_both = there.erase(about.key) > 0;
    if (!about.selected) continue;
    if (in_both)
      result.both.push_back({about.key, options.tol_pct.value_or(kTolerancePct)});
    else
      result.here.push_back(about.key);
  }
  result.reference.assign(there.begin(), there.end());
  return result;
}

Verdict verdict(const ab::ComparedRow& row) {
  if (row.found) return row.found->verdict;
  return row.wrong ? Verdict::invalid : Verdict::skipped;
}

int exit_code(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass:
  case Verdict::improved: return judge::kExitPass;
  case Verdict::regressed:
  case Verdict::invalid: return judge::kExitFail;
  default: return judge::kExitSkip;
  }
}

std::string table(const std::vector<ab::ComparedRow>& rows) {
  judge::TextTable table({"row", "A", "B", "ratio A/B", "interval", "finds", "pairs", "verdict"});
  for (const ab::ComparedRow& row : rows) {
    const std::string key = judge::text(row.key), word(judge::name(verdict(row)));
    if (!row.found) {
      table.add({key, "", "", "", "", "", std::to_string(row.times.a_ns.size()), word});
      continue;
    }
    const judge::Confirmation& found = *row.found;
    table.add({key, judge::time_text(judge::median(row.times.a_ns)),
               judge::time_text(judge::median(row.times.b_ns)), fmt::format("{:.3f}", found.ratio),
               fmt::format("[{:.3f}, {:.3f}]", found.ratio_interval.low, found.ratio_interval.high),
               fmt::format("{:.1f} %", found.detectable_pct), std::to_string(found.pairs), word});
  }
  return table.plain();
}

std::string message(const ab::ComparedRow& row, const std::string& base) {
  return fmt::format("{}: {}: {}; again: {}", judge::text(row.key), judge::name(verdict(row)),
                     row.found ? row.found->reason : row.problem,
                     judge::row_command("ab --base " + base, judge::op_of(row.key.case_id),
                                        judge::dtype_of(row.key.case_id), row.key));
}

nlohmann::json json(const ab::ComparedRow& row) {
  nlohmann::json result = {{"case", row.key.case_id},
                           {"variant", row.key.variant},
                           {"mode", judge::name(row.key.mode)},
                           {"verdict", judge::name(verdict(row))},
                           {"a_ns", row.times.a_ns},
                           {"b_ns", row.times.b_ns},
                           {"control_ns", row.times.control_ns}};
  if (row.found) {
    result["ratio"] = row.found->ratio;
    result["ratio_interval"] = {row.found->ratio_interval.low, row.found->ratio_interval.high};
    result["detectable_pct"] = row.found->detectable_pct;
  }
  result["reason"] = row.found ? row.found->reason : row.problem;
  return result;
}

void save(const Options& options, const std::string& source, const ab::ReferenceBuild& reference,
          const std::vector<ab::ComparedRow>& rows) {
  constexpr int kSchema = 1;
  nlohmann::json file = {{"schema", kSchema},
                         {"a", reference.commit},
                         {"b", source},
                         {"seed", seed_of(options)},
                         {"rows", nlohmann::json::array()}};
  for (const ab::ComparedRow& row : rows) file["rows"].push_back(json(row));
  write_file(options.json, judge::for_json(file, 1) + "\n");
}

void show_one_sided(const Sides& rows, const std::string& base, std::ostream& out) {
  for (const RowKey& key : rows.here)
    out << fmt::format("{}: not compared: {} has no such row\n", judge::text(key), base);
  for (const RowKey& key : rows.reference)
    out << fmt::format("{}: not compared: only {} has this row\n", judge::text(key), base);
}

} // namespace

int ab(const Options& options, World& world) {
  const Selection selection = select(world, options.filters);
  if (selection.selected == 0) throw Error(nothing_selected(world));
  if (const auto exit = exit_without_device(options, world)) return *exit;
  const ab::ReferenceBuild reference = [&] {
    try {
      ab::BuildPlan plan = build_plan(options, world);
      const auto& filters = options.filters;
      if (!filters.empty() && std::none_of(filters.begin(), filters.end(),
                                           [](const Filter& each) { return each.ops.empty(); }))
        plan.ops.assign(selection.ops.begin(), selection.ops.end());
      return ab::reference_build(plan, options.ab.base);
    } catch (const ab::UnknownRef& error) {
      throw UsageError(std::string("--base ") + error.what());
    }
  }();
  const Sides rows = sides(options, selection, reference.executable);
  const std::vector<ab::ComparedRow> compared = compare(options, world, reference, rows.both);

  if (!options.json.empty()) save(options, source_of(options, world), reference, compared);
  world.out << fmt::format("A: commit {} ({}); B: {}, {}\n", reference.commit.substr(0, 12),
                           options.ab.base, source_of(options, world), world.executable.string());
  if (!options.quiet) world.out << table(compared);
  std::vector<judge::RowExit> exits;
  for (const ab::ComparedRow& row : compared) {
    exits.push_back({exit_code(verdict(row))});
    if (exits.back().code != judge::kExitPass)
      world.out << judge::for_console(message(row, options.ab.base)) << "\n";
  }
  show_one_sided(rows, options.ab.base, world.out);
  return judge::exit_of_rows(
      exits, options.strict); // 77 if they have no row in common, which is not a failure
}

} // namespace kg::cli
