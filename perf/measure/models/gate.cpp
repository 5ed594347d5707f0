// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/gate.h"

#include "perf/format/named_path.h"
#include "perf/format/table.h"
#include "perf/judge/command.h"
#include "perf/judge/device_file.h"
#include "perf/judge/exact_bless.h"
#include "perf/judge/gate.h"
#include "perf/measure/environment.h"
#include "perf/measure/source_folder.h"
#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <ostream>
#include <set>

namespace kg::perf {
namespace {

// Times of a CPU or of an emulated GPU are not GPU times.
bool times_inform() { return backend == Backend::host || device_properties().emulated; }

std::vector<ModelCase> selected(const GateCall& call) {
  std::vector<ModelCase> cases = model_cases(model_configs());
  std::erase_if(cases, [&](const ModelCase& each) {
    return case_id(each.spec).find(call.part) == std::string::npos;
  });
  return cases;
}

struct Measurement {
  judge::ExactRows memory;
  judge::Results times;
};

Measurement measure_cases(const GateCall& call, const std::string& source) {
  Measurement all;
  all.times.environment = environment(source);
  const bool runs_large = call.full || !times_inform();
  for (const ModelCase& each : selected(call)) {
    const bool runs = call.from.empty() && (!each.large || runs_large);
    ModelFigures one = figures(each.spec, runs ? call.runs : 0);
    judge::append(all.memory, one.memory);
    all.times.rows.insert(all.times.rows.end(), one.times.begin(), one.times.end());
  }
  if (call.from.empty()) return all;
  std::vector<judge::Results> stored;
  for (const std::filesystem::path& file : call.from) stored.push_back(judge::load_results(file));
  all.times = judge::merge(stored);
  return all;
}

// One line per case and phase.
std::string table(const judge::ExactRows& memory, const judge::ExactResult& judged,
                  const std::vector<judge::Measured>& times) {
  std::map<std::vector<std::string>, double> ns;
  for (const judge::Measured& row : times) ns[{row.key.case_id, row.key.variant}] = row.median_ns;
  judge::TextTable lines({"case", "phase", "peak MiB", "calls", "MiB moved", "Gflop", "median ms",
                          "grade of memory and work"});
  constexpr double kMib = 1024 * 1024;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const judge::ExactRow& row = memory[i].row;
    const auto time = ns.find(row.key);
    const std::optional<judge::Grade>& grade = judged.rows[i].grade;
    lines.add({row.key[0], row.key[1], fmt::format("{:.2f}", row.values[0] / kMib),
               fmt::format("{:.0f}", row.values[1]), fmt::format("{:.2f}", row.values[2] / kMib),
               fmt::format("{:.4f}", row.values[3] / 1e9),
               time == ns.end() ? "planned" : fmt::format("{:.3f}", time->second / 1e6),
               grade ? std::string(judge::name(*grade)) : "-"});
  }
  return lines.plain();
}

judge::Covers covers(const GateCall& call) {
  return [part = call.part](const judge::ExactRow& row) {
    return row.key[0].find(part) != std::string::npos;
  };
}

judge::TimingFile times_file(const std::filesystem::path& folder) {
  judge::TimingFile file = judge::load_timings(folder / "model.csv", judge::Device::gpu);
  file.missing = !file.exists && std::filesystem::exists(folder);
  return file;
}

int bless_times(const GateCall& call, const std::filesystem::path& folder,
                const judge::Results& times, std::ostream& out) {
  const judge::TimingFile file = judge::load_timings(folder / "model.csv", judge::Device::gpu);
  judge::BlessOptions how;
  how.device = judge::Device::gpu;
  how.why = call.why;
  const judge::BlessPlan plan = judge::plan_bless(file, times.rows, how);
  judge::carry_out(plan, file.path, judge::Device::gpu);
  out << judge::text(plan);
  return plan.exit_code();
}

int bless(const GateCall& call, const std::filesystem::path& folder, const std::string& source,
          const Measurement& measured, std::ostream& out) {
  require_clean(source);
  std::filesystem::create_directories(folder);
  const judge::ExactFile file = judge::load_exact(memory_table(), folder / "memory.csv");
  const judge::ExactBlessPlan plan = judge::plan_exact_bless(
      memory_table(), measured.memory, file, covers(call), {call.why, call.remove_orphans});
  judge::carry_out(memory_table(), plan, file.path);
  out << file.path << (plan.changes() ? ", written:\n" : ", as it was:\n") << judge::text(plan);
  std::vector<int> exits = {plan.exit_code()};
  if (!times_inform()) exits.push_back(bless_times(call, folder, measured.times, out));
  return judge::combined_exit(exits, is_set("KERNELGRADE_STRICT"));
}

} // namespace

int gate_times(const TimesCall& call, const std::vector<judge::Measured>& times,
               const std::vector<ModelCase>& cases, std::ostream& out) {
  const std::map<std::string, judge::TimingFile> files = {{"model", times_file(call.folder)}};
  std::vector<judge::Registered> registered;
  for (const ModelCase& each : cases)
    for (const judge::ExactMeasured& row : figures(each.spec, 0).memory) {
      judge::Registered one;
      one.op = one.category = "model";
      one.dtype = std::string(name(each.spec.dtype));
      one.key = {row.row.key[0], row.row.key[1], judge::Mode::real};
      registered.push_back(std::move(one));
    }
  judge::GateOptions how;
  how.device = judge::Device::gpu;
  how.strict = call.strict;
  how.filtered = call.filtered;
  const judge::GateResult result = judge::judge(times, files, registered, how);
  for (const judge::RowResult& row : result.rows) out << row.message << "\n";
  for (const std::string& fault : result.faults) out << fault << "\n";
  return result.exit_code;
}

int gate(const GateCall& call, std::ostream& out) {
  const std::string source =
      call.source.empty() ? source_id(source_folder(KERNELGRADE_SOURCE_DIR)) : call.source;
  if (call.bless && call.from.empty()) require_clean(source);
  const Measurement measured = measure_cases(call, source);
  if (!call.json.empty()) judge::save_results(call.json, measured.times);
  const std::filesystem::path folder =
      judge::named_path(call.baselines / "models", "device", environment(source).at("device"));
  if (call.bless) return bless(call, folder, source, measured, out);

  const bool strict = is_set("KERNELGRADE_STRICT");
  judge::ExactOptions how;
  how.strict = strict;
  how.again = judge::command("model gate");
  how.bless = judge::command("model gate --bless");
  how.unknown_compiler = backend == Backend::cuda && !std::filesystem::exists(folder);
  const judge::ExactResult result = judge::judge_exact(
      memory_table(), measured.memory, judge::load_exact(memory_table(), folder / "memory.csv"),
      covers(call), how);
  out << table(measured.memory, result, measured.times.rows) << judge::plain_text(result);
  std::vector<int> exits = {result.exit_code};
  if (times_inform())
    out << "times are the emulator's on this CPU: they are informational, and say nothing of a "
           "GPU\n";
  else
    exits.push_back(
        gate_times({folder, strict, !call.part.empty()}, measured.times.rows, selected(call), out));
  return judge::combined_exit(exits, strict);
}

} // namespace kg::perf
