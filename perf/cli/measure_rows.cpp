// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/measure_rows.h"

#include "perf/cli/console.h"
#include "perf/cli/journal.h"
#include "perf/cli/measure_processes.h"
#include "perf/format/units.h"
#include "perf/judge/gate.h"
#include "perf/measure/child_process.h"
#include "perf/measure/environment.h"
#include "perf/measure/host_load.h"
#include "perf/measure/injection.h"
#include "perf/measure/nvml.h"
#include "perf/measure/turns.h"
#include "runtime/backend.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kg::cli {
namespace {

judge::CanaryKind canary_kind(Bound kind) {
  switch (kind) {
  case Bound::memory: return judge::CanaryKind::memory;
  case Bound::compute: return judge::CanaryKind::compute;
  case Bound::sync: return judge::CanaryKind::sync;
  case Bound::launch: return judge::CanaryKind::launch;
  }
  return judge::CanaryKind::memory;
}

std::string_view stop_text(judge::Stop stop) {
  switch (stop) {
  case judge::Stop::no: return "failed";
  case judge::Stop::precise: return "precise";
  case judge::Stop::most: return "most samples";
  case judge::Stop::budget: return "time budget";
  }
  return "";
}

// A program that cannot read its own code still measures, and reports why rows have no identity.
void identify(judge::Measured& result, const perf::Measurement& found, const World& world) {
  if (result.kind == judge::Kind::vendor) {
    if (!world.library_identity) return;
    result.identity = world.library_identity(result.key.variant);
    if (result.identity.empty()) result.tags["identity"] = "no library has the variant's name";
    return;
  }
  if (!world.identity) return;
  try {
    result.identity = world.identity(result.op, found.launches);
  } catch (const Error& error) {
    result.tags["identity"] = error.what();
  }
}

judge::Measured measured(const Row& row, const perf::Measurement& found, const World& world) {
  judge::Measured result = described(row);
  if (!found.skipped.empty()) {
    result.skipped = found.skipped;
    return result;
  }
  if (found.out_of_memory) {
    result.skipped = "there is not enough memory for it: " + found.problem;
    result.tags["failure"] = "out_of_memory";
    return result;
  }
  result.verified = found.problem;
  result.tags = {{"ran", found.variant},
                 {"batch", std::to_string(found.batch)},
                 {"stop", std::string(stop_text(found.stop))},
                 {"warm_up", found.settled ? "settled" : "not settled"}};
  if (!row.automatic.empty() && result.kind == judge::Kind::ours)
    result.tags[perf::kAutomaticTag] = row.automatic;
  if (!row.listed) result.tags[judge::kUnlistedTag] = "1";
  if (found.empty_node_ns)
    result.tags["empty_node_ns"] = fmt::format("{:.1f}", *found.empty_node_ns);
  if (found.worst_error)
    result.tags[perf::kWorstErrorTag] = fmt::format("{:.3g}", *found.worst_error);
  if (!found.interleaved_with.empty())
    result.tags[judge::kProtocolTag] =
        fmt::format("interleaved with {}", fmt::join(found.interleaved_with, ", "));
  if (found.repeated) result.tags["repeated"] = "throttled";
  if (!found.throttled_by.empty()) result.tags[judge::kThrottledTag] = found.throttled_by;
  if (found.oversubscribed) result.tags["oversubscribed"] = "1";
  result.setup_ns = found.setup_ns;
  result.first_call_ns = found.first_call_ns;
  result.jit_ns = found.compile_ns;
  result.peak_bytes = static_cast<double>(found.peak_bytes);
  identify(result, found, world);
  if (!found.problem.empty()) return result; // a wrong or failed run must not report a time
  judge::take_samples(result, found.samples_ns);
  if (found.canaries_ns.empty()) return result;
  result.canary = judge::measured_canary(canary_kind(row.canary), found.canaries_ns);
  return result;
}

// A row's placeholder until it is measured.
judge::Measured unfinished(const Row& row) {
  judge::Measured result = described(row);
  result.verified = "its measurement did not end";
  return result;
}

using Rows = std::vector<const Row*>;

// Adds the rows after the one that left the device unusable.
void add_unmeasured(judge::Results& run, const Rows& rows, const std::string& lost) {
  std::set<judge::RowKey> measured;
  for (const judge::Measured& row : run.rows) measured.insert(row.key);
  for (const Row* row : rows) {
    if (measured.contains(row->registered.key)) continue;
    run.rows.push_back(described(*row));
    run.rows.back().tags["failure"] = "device_lost";
    run.rows.back().verified =
        fmt::format("an earlier row left the device unusable ({}); leave out --in-process", lost);
  }
}

// Shuffles the cases, then the variants within each. Ours and the library's stay adjacent, so drift
// affects both.
Rows in_order(const Selection& selection, unsigned seed) {
  std::vector<Rows> cases;
  for (const Row& row : selection.rows) {
    if (!row.registered.selected) continue;
    if (cases.empty() || cases.back().front()->registered.key.case_id != row.registered.key.case_id)
      cases.emplace_back();
    cases.back().push_back(&row);
  }
  std::mt19937 random(seed);
  if (seed) std::shuffle(cases.begin(), cases.end(), random);
  Rows rows;
  for (Rows& of_case : cases) {
    if (seed) std::shuffle(of_case.begin(), of_case.end(), random);
    rows.insert(rows.end(), of_case.begin(), of_case.end());
  }
  return rows;
}

// The rows to measure together: a single row, or the interleaved variants of a case and mode. If
// processes are interleaved (`alone`), their rows are not.
std::vector<Rows> groups_of(const Rows& rows, bool alone) {
  std::vector<Rows> groups;
  for (const Row* row : rows) {
    const auto beside = std::find_if(groups.begin(), groups.end(), [&](const Rows& group) {
      const judge::RowKey& key = group.front()->registered.key;
      return row->interleaved && !alone && key.case_id == row->registered.key.case_id &&
             key.mode == row->registered.key.mode;
    });
    if (beside == groups.end())
      groups.push_back({row});
    else
      beside->push_back(row);
  }
  return groups;
}

std::string progress(std::size_t number, std::size_t all, const judge::Measured& row) {
  const std::string head = fmt::format("[{}/{}] {}", number, all, judge::text(row.key));
  if (!row.verified.empty()) return fmt::format("{}: INVALID: {}", head, row.verified);
  if (!row.skipped.empty()) return fmt::format("{}: skipped: {}", head, row.skipped);
  return fmt::format("{}: {} +-{:.1f} %", head, judge::time_text(row.median_ns),
                     100 * judge::half_width(row.ci_ns, row.median_ns));
}

// `journal` is null if no other process waits for the rows.
judge::Results in_this_process(const Options& options, World& world, const Selection& selection,
                               Journal* journal) {
  judge::Results run;
  run.environment = perf::environment(source_of(options, world));
  run.environment["date_utc"] = perf::utc_now();
  const std::optional<perf::Injection> injection = perf::injection_here();
  if (injection) // even with --quiet: such a time must not be taken for a real one
    world.err << fmt::format("{}: injecting {} into every timed execution of our rows\n",
                             perf::kInjectVariable, injection->text);
  const std::unique_ptr<perf::Nvml> nvml = perf::open_nvml();
  const std::unique_ptr<perf::Turn> turn = perf::turn_here();
  if (turn) {
    if (journal) turn->waiting = [&] { journal->waits(); };
    turn->next_row();
  }
  const std::unique_ptr<perf::Apparatus> apparatus = world.apparatus(options.pace);
  if (turn) {
    apparatus->protocol = perf::interleaved(apparatus->protocol);
    apparatus->instruments.between_blocks.pass_turn = [&] { turn->pass(); };
    // An interleaved process is compared with the adjacent ones, not with a canary, which would
    // take a quarter of the time.
    apparatus->instruments.canary_ns = nullptr;
  }
  if (nvml) {
    apparatus->instruments.between_blocks.throttled = [&] {
      return perf::throttled_by(nvml->clock_reasons().value_or(0));
    };
    apparatus->instruments.between_blocks.rest = [](double ns) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(ns));
    };
  }
  const std::vector<unsigned> own = {static_cast<unsigned>(getpid()),
                                     static_cast<unsigned>(getppid())};
  const Rows rows = in_order(selection, options.shuffle);
  Progress line(world, options.quiet);
  for (const Rows& group : groups_of(rows, turn != nullptr)) {
    if (turn) turn->next_row();
    std::vector<perf::Candidate> candidates;
    for (const Row* row : group) {
      const bool slowed = injection && row->registered.kind == judge::Kind::ours;
      candidates.push_back(
          {row->make, row->canary, slowed ? std::optional(injection->share) : std::nullopt});
    }
    const auto begins = [&](std::size_t i) {
      if (journal) journal->begins({run.environment, {unfinished(*group[i])}});
    };
    const std::optional<perf::CpuTime> before = perf::cpu_time();
    const perf::GpuState gpu_before = nvml ? nvml->state() : perf::GpuState{};
    const std::vector<perf::Measurement> found = perf::measure_interleaved(
        candidates, group.front()->registered.key.mode, *apparatus, begins);
    const std::optional<perf::CpuTime> after = perf::cpu_time();
    std::map<std::string, std::string> machine;
    if (before && after)
      machine["foreign_load"] = fmt::format("{:.0f}", perf::foreign_load_pct(*before, *after));
    if (nvml) machine.merge(perf::gpu_tags(gpu_before, nvml->state(), own));
    std::string lost;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (found[i].abandoned) continue;
      judge::Measured row = measured(*group[i], found[i], world);
      if (turn) row.turn_medians_ns = found[i].block_medians_ns;
      if (candidates[i].injected) row.tags[judge::kInjectedTag] = injection->text;
      row.tags.insert(machine.begin(), machine.end());
      if (lost.empty() && !found[i].problem.empty()) lost = apparatus->instruments.device_problem();
      if (!lost.empty() && !found[i].problem.empty()) row.tags["failure"] = "device_lost";
      run.rows.push_back(std::move(row));
      if (journal) journal->ends({run.environment, {run.rows.back()}});
      line.show(progress(run.rows.size(), rows.size(), run.rows.back()));
    }
    if (lost.empty()) continue;
    // A supervised process leaves the remaining rows to the next process.
    if (!journal) add_unmeasured(run, rows, lost);
    break;
  }
  if (turn) turn->next_row(); // the others have finished their last row as well
  return run;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

} // namespace

judge::Measured described(const Row& row) {
  judge::Measured result;
  result.op = row.registered.op;
  result.dtype = row.registered.dtype;
  result.key = row.registered.key;
  result.category = row.registered.category;
  result.kind = row.registered.kind;
  result.bytes = row.work.bytes;
  result.written = row.work.written;
  result.flops = row.work.flops;
  result.tf32 = row.tf32;
  result.note = row.note;
  return result;
}

perf::DeviceLock lock_device(World& world) {
  const std::string device = world.device();
  return perf::DeviceLock(perf::device_lock_path(device), [&] {
    world.err << "waiting for another process that is measuring on " << device << "\n";
  });
}

std::optional<perf::DeviceLock> lock_to_measure(World& world) {
  if (std::getenv(perf::kTurnVariable)) return std::nullopt;
  return lock_device(world);
}

std::string source_of(const Options& options, const World& world) {
  return options.source_id.empty() ? perf::source_id(world.source) : options.source_id;
}

std::map<std::string, std::string> counted_environment(const Options& options, const World& world) {
  return {{"source", source_of(options, world)}, {"date_utc", perf::utc_now()}};
}

std::string missing_device(const Options& options, World& world) {
  if (is_number(options.device)) {
    if constexpr (backend == Backend::host)
      throw UsageError(
          fmt::format("--device {}: the CPU emulator has one device, host", options.device));
    // Set before the first CUDA runtime call, which reads it once; new processes inherit it.
    setenv("CUDA_VISIBLE_DEVICES", options.device.c_str(), 1);
  }
  std::string reason = world.no_device();
  if (reason.empty() && world.emulated() && !options.once)
    reason = "the GPU is emulated, and an emulated GPU has no timings; `run --once` runs each row";
  if (!reason.empty() || options.device.empty() || is_number(options.device)) return reason;
  if (options.device != world.device())
    throw UsageError(
        fmt::format("--device {}: the device here is {}", options.device, world.device()));
  return reason;
}

std::optional<int> exit_without_device(const Options& options, World& world) {
  const std::string reason = missing_device(options, world);
  if (reason.empty()) return std::nullopt;
  world.err << "skipped: " << reason << "\n";
  return options.strict || options.require_gpu ? judge::kExitFail : judge::kExitSkip;
}

judge::Results measure_rows(const Options& options, World& world, const Selection& selection) {
  if (!options.journal.empty()) { // started by a process that holds the lock
    perf::end_with_parent();
    Journal journal(options.journal);
    return in_this_process(options, world, selection, &journal);
  }
  if (options.in_process) {
    const std::optional<perf::DeviceLock> lock = lock_to_measure(world);
    return in_this_process(options, world, selection, nullptr);
  }
  return measure_in_processes(options, world, selection, source_of(options, world));
}

} // namespace kg::cli
