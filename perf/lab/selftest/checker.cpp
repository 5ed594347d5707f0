// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/selftest/checker.h"

#include "perf/judge/bless.h"
#include "perf/judge/suspects.h"
#include "perf/measure/injection.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kg::selftest {
namespace {

using judge::Measured;
using judge::Results;
using judge::RowKey;

constexpr const char* kConfirm = "confirm"; // the purpose of a measurement
constexpr unsigned kLoadedLimitS = 60;      // per process, on a busy machine

// One arm's results for one row.
struct Found {
  std::string problem; // of any of its processes
  Measured merged;
  Processes samples;
};

Found found_of(const std::vector<std::vector<Results>>& rounds, std::size_t arm, const RowKey& key,
               const char* identity) {
  Found found;
  std::vector<Results> runs;
  for (const std::vector<Results>& round : rounds) {
    const auto& rows = round.at(arm).rows;
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const Measured& measured) { return measured.key == key; });
    if (row == rows.end()) return {"it was not measured", {}, {}};
    if (!row->verified.empty() || !row->skipped.empty())
      return {row->verified.empty() ? row->skipped : row->verified, {}, {}};
    found.samples.push_back(row->samples_ns);
    runs.push_back({{}, {*row}});
    // Injections are drawn per process; here even the baseline is slowed down on purpose.
    runs.back().rows.front().tags.erase(judge::kInjectedTag);
    // All arms run the same program, and slowdowns stand for code changes.
    runs.back().rows.front().identity = identity;
  }
  found.merged = judge::merge(runs).rows.front();
  return found;
}

// The rounds reduced to these arms, in this order.
std::vector<std::vector<Results>> of_arms(const std::vector<std::vector<Results>>& rounds,
                                          const std::vector<std::size_t>& arms) {
  std::vector<std::vector<Results>> result;
  for (const std::vector<Results>& round : rounds) {
    result.emplace_back();
    for (const std::size_t arm : arms) result.back().push_back(round.at(arm));
  }
  return result;
}

void append(judge::PairedTimes& to, const judge::PairedTimes& from) {
  to.a_ns.insert(to.a_ns.end(), from.a_ns.begin(), from.a_ns.end());
  to.b_ns.insert(to.b_ns.end(), from.b_ns.begin(), from.b_ns.end());
  to.control_ns.insert(to.control_ns.end(), from.control_ns.begin(), from.control_ns.end());
}

const judge::RowResult* find(const judge::GateResult& result, const RowKey& key) {
  const auto at = std::find_if(result.rows.begin(), result.rows.end(),
                               [&](const judge::RowResult& row) { return row.key == key; });
  return at == result.rows.end() ? nullptr : &*at;
}

// One interim analysis of a row's measurements: `pairs` of them if nothing failed.
judge::RowConfirmation look_at(const judge::PairedTimes& times, std::size_t pairs,
                               const judge::ConfirmRule& rule) {
  judge::RowConfirmation seen;
  seen.reference = "the same build";
  if (times.a_ns.size() == pairs)
    seen.found = judge::confirm(times, rule);
  else
    seen.unavailable = "a process did not measure it";
  return seen;
}

} // namespace

judge::GateOptions Checker::options() const {
  judge::GateOptions how;
  how.device = plan_.device;
  how.filtered = true; // the ops' other rows are ignored
  return how;
}

ab::Arm Checker::arm(const std::string& name, const Group& group, double percent,
                     bool whole) const {
  // If one arm is slowed down, all arms are injected, by 0 % if necessary: an injection does more
  // to a process than slow it down (perf/measure/measure.h), and must not distinguish the arms.
  const bool injected = std::any_of(group.treatments.begin(), group.treatments.end(),
                                    [](const Treatment& one) { return one.percent > 0; });
  std::string injection = injected ? fmt::format("{:g}", percent) : "";
  if (!group.noise.empty()) injection += (injection.empty() ? "" : ",") + group.noise;
  ab::Arm result{name, plan_.executable, {{perf::kInjectVariable, injection}}};
  // Blessed and screened processes measure at full length, as for the gate, unless the plan says
  // otherwise; the many processes for confirmation are brief.
  if (whole) result.environment["KERNELGRADE_BRIEF"] = "0";
  return result;
}

std::vector<judge::Registered> Checker::rows_of(const Group& group) const {
  if (group.rows == 0 || group.rows >= plan_.rows.size()) return plan_.rows;
  std::vector<judge::Registered> rows;
  for (std::size_t i = 0; i < group.rows; ++i)
    rows.push_back(plan_.rows[i * plan_.rows.size() / group.rows]);
  return rows;
}

void Checker::say_budget(const Group& group) const {
  const std::size_t treatments = group.treatments.size();
  plan_.say(fmt::format("{}: {} rows, at most {} processes in a batch, each ended after {} s",
                        group.treatments.front().experiment, rows_of(group).size(),
                        plan_.blessed_processes + treatments * plan_.screened_processes +
                            (2 + treatments) * judge::ConfirmRule().second_look,
                        kLoadedLimitS));
}

Checker::Rounds Checker::measure(const Group& group, const std::vector<ab::Arm>& arms,
                                 std::size_t first, std::size_t count,
                                 const std::vector<RowKey>& rows, const std::string& what) {
  plan_.say(fmt::format("{}: {} processes of {} rows", what, count * arms.size(), rows.size()));
  ab::RoundOptions options;
  options.rows = rows;
  if (group.load) options.time_limit_s = kLoadedLimitS;
  // Blessing and screening are separate runs, hours or months apart.
  if (what == kConfirm) options.exclusive = plan_.exclusive;
  // The second interim analysis continues the orders of the first.
  options.seed = plan_.seed + 1000 * (first == 0 ? ++measurements_ : measurements_);
  return plan_.run(arms, first, count, options);
}

const Checker::Baseline& Checker::baseline(const Group& group) {
  Baseline& kept = baselines_[{group.noise, group.rows}];
  if (!kept.files.empty() && kept.batches < plan_.batches_per_bless) return kept;
  kept = {};
  const std::vector<judge::Registered> rows = rows_of(group);
  std::vector<RowKey> keys;
  for (const judge::Registered& row : rows) keys.push_back(row.key);
  const Rounds rounds =
      measure(group, {arm("a", group, 0, true)}, 0, plan_.blessed_processes, keys, "bless");
  judge::BlessOptions how;
  how.device = plan_.device;
  how.accept_bimodal = true; // the machine's current effect on times is part of the test
  for (const judge::Registered& row : rows) {
    const Found found = found_of(rounds, 0, row.key, "blessed");
    if (!found.problem.empty()) {
      plan_.say(fmt::format("left out: {}: {}", judge::text(row.key), found.problem));
      continue;
    }
    judge::TimingFile& file = kept.files[row.op];
    file.path = row.op + ".csv";
    file.exists = true;
    judge::BlessPlan blessed = judge::plan_bless(file, {found.merged}, how);
    if (blessed.entries.front().action == judge::BlessAction::refused) {
      plan_.say(
          fmt::format("left out: {}: {}", judge::text(row.key), blessed.entries.front().reason));
      continue;
    }
    file.rows = std::move(blessed.rows);
    kept.samples[row.key] = found.samples;
  }
  require(!kept.samples.empty(),
          "selftest: none of the rows could be blessed; see the lines above, and choose others");
  return kept;
}

std::vector<Checker::Screened> Checker::screen(const Group& group, const Baseline& baseline) {
  std::vector<Screened> all;
  std::vector<ab::Arm> arms;
  const bool whole = !plan_.brief && !group.load;
  for (const Treatment& treatment : group.treatments) {
    Screened& one = all.emplace_back();
    one.treatment = &treatment;
    one.arm = arm(fmt::format("b{}", all.size()), group, treatment.percent, whole);
    arms.push_back(one.arm);
  }
  std::vector<RowKey> keys;
  for (const auto& [key, samples] : baseline.samples) keys.push_back(key);
  const Rounds rounds = measure(group, arms, 0, plan_.screened_processes, keys, "screen");

  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Measured> measured;
    std::vector<judge::Registered> registered;
    for (const judge::Registered& row : plan_.rows) {
      if (!baseline.samples.contains(row.key)) continue;
      Found found = found_of(rounds, i, row.key, "changed");
      if (!found.problem.empty()) {
        plan_.say(fmt::format("left out: {}: {}", judge::text(row.key), found.problem));
        continue;
      }
      all[i].samples[row.key] = std::move(found.samples);
      measured.push_back(std::move(found.merged));
      registered.push_back(row);
    }
    all[i].result = judge::judge(measured, baseline.files, registered, options());
  }
  return all;
}

void Checker::confirm(const Group& group, const std::vector<Screened*>& screened) {
  std::vector<ab::Arm> arms = {arm("a", group, 0, false), arm("control", group, 0, false)};
  std::vector<std::vector<RowKey>> open; // for each treatment, the rows still to measure
  std::vector<std::size_t> suspects;
  for (const Screened* one : screened) {
    arms.push_back(arm(one->arm.name, group, one->treatment->percent, false));
    open.push_back(judge::suspects(one->result, plan_.rows.size()));
    suspects.push_back(open.back().size());
  }
  std::vector<judge::Confirmations> found(screened.size());
  const judge::ConfirmRule looks;
  std::size_t measured = 0;
  for (const std::size_t pairs : {looks.first_look, looks.second_look}) {
    std::set<RowKey> rows;
    for (const std::vector<RowKey>& keys : open) rows.insert(keys.begin(), keys.end());
    if (rows.empty()) break;
    const Rounds rounds =
        measure(group, arms, measured, pairs - measured, {rows.begin(), rows.end()}, kConfirm);
    measured = pairs;
    for (std::size_t i = 0; i < screened.size(); ++i) {
      const Rounds three = of_arms(rounds, {0, i + 2, 1});
      for (const RowKey& key : std::exchange(open[i], {})) {
        judge::PairedTimes& times = screened[i]->rounds[key];
        append(times, ab::paired_times(three, key));
        const judge::ConfirmRule rule =
            judge::confirm_rule(find(screened[i]->result, key)->tol_pct, suspects[i]);
        judge::RowConfirmation& seen = found[i][key] = look_at(times, pairs, rule);
        if (seen.found && seen.found->more) open[i].push_back(key);
      }
    }
  }
  for (std::size_t i = 0; i < screened.size(); ++i)
    screened[i]->result = judge::fold(std::move(screened[i]->result), found[i], options());
}

Batch Checker::check(const Group& group) {
  if (group.load) say_budget(group);
  const Baseline& blessed = baseline(group);
  std::shared_ptr<void> load = group.load ? plan_.load() : nullptr;
  std::vector<Screened> screened = screen(group, blessed);
  // Treatments under which most rows are suspects share the reference's processes; other treatments
  // would make each other measure rows that they do not suspect.
  std::vector<Screened*> shared;
  for (Screened& one : screened) {
    const std::size_t suspects = judge::suspects(one.result, plan_.rows.size()).size();
    if (suspects == 0) continue;
    if (2 * suspects > one.result.rows.size())
      shared.push_back(&one);
    else
      confirm(group, {&one});
  }
  if (!shared.empty()) confirm(group, shared);
  load.reset();
  ++baselines_[{group.noise, group.rows}].batches;

  Batch batch{plan_.device_name, plan_.backend, plan_.now_utc(), plan_.source, {}};
  const bool reference = group.treatments.size() > 1 && group.treatments[0].percent == 0;
  for (const auto& [key, samples] : blessed.samples) {
    CheckedRow row{key, samples, {}, {}};
    for (Screened& one : screened) {
      const judge::RowResult* result = find(one.result, key);
      if (!result) continue;
      row.checks.push_back({one.treatment->experiment, one.treatment->step, one.samples[key],
                            result->verdict, one.rounds[key]});
    }
    if (reference) row.reference = screened.front().samples[key];
    batch.rows.push_back(std::move(row));
  }
  return batch;
}

void run_batches(Checker& checker, const std::vector<Group>& groups, const Limits& limits,
                 const std::function<double()>& now_ns,
                 const std::function<void(const Batch&)>& done) {
  constexpr double kMinuteNs = 60e9;
  const double start = now_ns();
  double longest = 0;
  std::vector<std::map<std::string, std::size_t>> checked(groups.size());
  const auto finished = [&](std::size_t i) {
    if (limits.checks == 0 || checked[i].empty()) return false;
    return std::all_of(checked[i].begin(), checked[i].end(),
                       [&](const auto& count) { return count.second >= limits.checks; });
  };
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (finished(i)) continue;
      const double begin = now_ns();
      const bool first = checked[i].empty();
      if (limits.minutes > 0 && !first && begin - start + longest > limits.minutes * kMinuteNs)
        return;
      const Batch batch = checker.check(groups[i]);
      for (const CalibrationRow& row : tally(batch))
        if (row.rule == kOurRule && row.rows == "all")
          checked[i][row.experiment] += row.rows_checked;
      longest = std::max(longest, now_ns() - begin);
      done(batch);
      any = true;
    }
    if (limits.checks == 0 && limits.minutes == 0) return;
  }
}

} // namespace kg::selftest
