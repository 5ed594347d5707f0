// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade doctor: the environment, its problems for measurements, and how to fix them.
#include "perf/cli/baselines.h"
#include "perf/cli/build/target.h"
#include "perf/cli/candidate/sandbox.h"
#include "perf/cli/commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/format/named_path.h"
#include "perf/format/sinks.h"
#include "perf/format/table.h"
#include "perf/format/units.h"
#include "perf/judge/command.h"
#include "perf/judge/device_file.h"
#include "perf/judge/limits.h"
#include "perf/measure/child_process.h"
#include "perf/measure/device_lock.h"
#include "perf/measure/environment.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <ostream>
#include <thread>

namespace kg::cli {
namespace {

// A problem and its fix.
struct Finding {
  std::string what;
  std::string fix;
};
using Findings = std::vector<Finding>;

void show_environment(const perf::Environment& environment, std::ostream& out) {
  judge::TextTable table({"environment", ""});
  for (const auto& [key, value] : environment) table.add({key, value});
  out << table.plain() << "\n";
}

// What a build tree can run now, and what the other commands must build first.
void show_commands(const World& world) {
  struct Part {
    const char* commands;
    const char* target;
  };
  constexpr Part kParts[] = {{"run, gate, bless, list, report, ...", "kernelgrade"},
                             {"check", "check"},
                             {"check --costs", "check_costs"},
                             {"try", "try"},
                             {"emulate", "emulate"},
                             {"profile --cost, gate --cost", "kernelgrade-cost"},
                             {"model", "kernelgrade-model"},
                             {"study, peers, choose, selftest, ...", "kernelgrade-lab"}};
  if (!build::is_in_build_tree(world.executable, world.build)) return;
  judge::TextTable table({"commands", "target", "state"});
  for (const Part& part : kParts) {
    std::string state;
    try {
      const build::Outstanding left = build::outstanding(world.build, part.target);
      state = left.steps == 0
                  ? "built"
                  : fmt::format("{} steps to build, about {:.0f} s", left.steps, left.seconds);
    } catch (const Error&) {
      state = "this tree has no such target";
    }
    table.add({part.commands, part.target, state});
  }
  world.out << table.plain() << "\n";
}

// The compiler of `check` and `try`.
void check_compiler(const World& world, Findings& findings) {
  const std::filesystem::path script = world.executable.parent_path() / "compile-cuda";
  if (!std::filesystem::exists(script)) return; // on a GPU, or with a compiler other than g++
  const perf::Finished finished = perf::run_process(
      {"/bin/sh", "-c", "exec \"$0\" compiler 2>&1", script.string()}, perf::Output::capture);
  if (finished.exit_code == 0)
    world.out << "compiler of check and try: " << finished.output << "\n";
  else
    findings.push_back({"check and try cannot compile: " + judge::printable(finished.output),
                        "install g++ 12 or newer (Debian, Ubuntu: apt install g++)"});
}

void check_load(Findings& findings) {
  double minute = 0;
  if (getloadavg(&minute, 1) != 1) return;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  constexpr double kBusy = 0.5; // of the cores
  if (minute > kBusy * cores)
    findings.push_back({fmt::format("other processes keep {:.1f} of {} cores busy", minute, cores),
                        "wait until they are done; timings taken now are slow and noisy"});
}

void check_device_file(const std::filesystem::path& folder, const perf::Environment& environment,
                       const std::optional<judge::DeviceFile>& device, Findings& findings) {
  if (!device) return;
  const perf::Environment here = perf::fingerprint(environment);
  for (const auto& [key, blessed] : device->fingerprint) {
    const auto found = here.find(key);
    const std::string now = found == here.end() ? "unknown" : found->second;
    if (now == blessed) continue;
    // Canary units make other machines of the class comparable.
    if constexpr (backend == Backend::host) continue;
    findings.push_back({fmt::format("{} is {} here, but {} where {} was blessed", key, now, blessed,
                                    folder.string()),
                        "grades are comparable only as far as the canaries agree; bless this "
                        "machine if it is the one that gates"});
  }
}

void check_baselines(const Options& options, const World& world, const std::string& device,
                     const std::optional<judge::DeviceFile>& blessed, Findings& findings) {
  const Selection all = select(world, {Filter{}});
  judge::TextTable table({"baselines", "rows"});
  std::size_t not_blessed = 0;
  for (const auto& [op, file] : load_baselines(options.baselines, device, all)) {
    const bool named = blessed && blessed->not_blessed.contains(op);
    if (file.exists)
      table.add({file.path, std::to_string(file.rows.size())});
    else
      ++not_blessed;
    if (!file.exists && !named)
      findings.push_back({fmt::format("{} has no baseline for {}", op, device),
                          judge::command("bless --op " + op)});
    for (const judge::Problem& problem : file.problems)
      findings.push_back(
          {fmt::format("{}:{}: {}", problem.file, problem.line, problem.what), problem.fix});
  }
  world.out << table.plain();
  world.out << fmt::format("operations without timing baselines for {}: {}\n\n", device,
                           not_blessed);
}

void check_canaries(const World& world, perf::Apparatus& apparatus,
                    const std::optional<judge::DeviceFile>& blessed, Findings& findings) {
  constexpr int kTimes = 60;
  const judge::Limits& limit = judge::limits(kJudged);
  judge::TextTable table({"canary", "median", "±99 % CI", "blessed"});
  for (const auto kind : {Bound::memory, Bound::compute, Bound::sync, Bound::launch}) {
    std::vector<double> times;
    for (int i = 0; i < kTimes; ++i) times.push_back(apparatus.instruments.canary_ns(kind));
    const double now = judge::median(times);
    const double width =
        judge::half_width(judge::median_interval(times, judge::kConfidence).interval, now);
    const std::string name(kg::name(kind));
    std::string then = "-";
    if (width > limit.canary_half_width)
      findings.push_back({fmt::format("the {} canary is known only to ±{:.1f} % (limit ±{:g} %)",
                                      name, 100 * width, 100 * limit.canary_half_width),
                          "end other work on this machine, plug it in, switch power saving off"});
    if (blessed && blessed->canaries_ns.contains(name)) {
      const double drift = now / blessed->canaries_ns.at(name);
      then = fmt::format("{} (x{:.2f})", judge::time_text(blessed->canaries_ns.at(name)), drift);
      if (drift > limit.canary_factor || drift < 1 / limit.canary_factor)
        findings.push_back(
            {fmt::format("the {} canary takes {:.2f} times its blessed time", name, drift),
             "this machine is of another class, or throttled; rows will be env"});
    }
    table.add({name, judge::time_text(now), fmt::format("±{:.1f} %", 100 * width), then});
  }
  world.out << table.plain() << "\n";
  if (std::find(world.modes.begin(), world.modes.end(), judge::Mode::cold) == world.modes.end())
    return;
  if (const std::string problem = apparatus.instruments.cold_problem(); !problem.empty())
    findings.push_back({problem, "end other work on the GPU"});
  else
    world.out << "the L2 flush is proved\n\n";
}

} // namespace

int doctor(const Options& options, World& world) {
  const std::string no_device = missing_device(options, world);
  if (!no_device.empty()) {
    world.out << fmt::format("backend: {}\nno device: {}\nthe fix: install the NVIDIA driver and "
                             "show it a GPU (nvidia-smi must list it), or build the host preset\n",
                             name(backend), no_device);
    return options.strict || options.require_gpu ? judge::kExitFail : judge::kExitSkip;
  }
  show_commands(world);
  world.out << candidate::sandbox().words << "\n\n";
  Findings findings;
  check_compiler(world, findings);
  const std::string device = world.device();
  const perf::Environment environment = perf::environment(source_of(options, world));
  show_environment(environment, world.out);
  const std::filesystem::path folder = judge::named_path(options.baselines, "device", device);
  const std::optional<judge::DeviceFile> blessed = judge::load_device(folder / "device.json");
  check_device_file(folder, environment, blessed, findings);
  check_baselines(options, world, device, blessed, findings);
  check_load(findings);
  const perf::DeviceLock lock(perf::device_lock_path(device),
                              [&] { world.err << "waiting for another measuring process\n"; });
  check_canaries(world, *world.apparatus(perf::Pace::full), blessed, findings);

  for (const Finding& finding : findings)
    world.out << fmt::format("wrong: {}\n  fix: {}\n", finding.what, finding.fix);
  world.out << (findings.empty() ? "nothing is wrong\n"
                                 : fmt::format("{} things are wrong\n", findings.size()));
  return findings.empty() ? judge::kExitPass : judge::kExitFail;
}

} // namespace kg::cli
