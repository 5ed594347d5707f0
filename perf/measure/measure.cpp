// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/measure.h"

#include "libraries/not_supported.h"
#include "perf/judge/result.h"
#include "perf/measure/flush.h"
#include "perf/measure/graph_slope.h"
#include "perf/measure/mode_sampler.h"
#include "runtime/backend.h"
#include "runtime/error.h"
#include "runtime/memory.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace kg::perf {
namespace {

// Executes the workload on poisoned outputs and verifies the result, and records its launches.
// Returns what is wrong with the result, or "".
std::string run_and_verify(const Workload& workload, Stream& stream,
                           std::vector<LaunchRecord>& launches) {
  workload.poison(stream);
  {
    const LaunchRecorder recorder;
    workload.run(stream);
    launches = recorder.launches();
  }
  stream.synchronize();
  return workload.verify(stream);
}

// Times the first execution. Returns what is wrong with its result, or "".
std::string first_call(const Workload& workload, Apparatus& apparatus, Measurement& result) {
  Stream& stream = apparatus.stream;
  workload.poison(stream);
  stream.synchronize();
  const double start = apparatus.instruments.now();
  workload.run(stream);
  stream.synchronize();
  result.first_call_ns = apparatus.instruments.now() - start;
  if (workload.compile_ns) result.compile_ns = workload.compile_ns();
  return workload.verify(stream);
}

// Slows each execution of the workload down by this share of its time in this mode. The time is
// measured once, so that each execution gets the same additional time, as from a real change.
Workload slower(Workload workload, double share, Bound kind, Mode mode, Apparatus& apparatus) {
  Protocol brief = apparatus.protocol;
  brief.stop.least = 30;
  brief.stop.most = 100;
  brief.stop.budget_ns = 30e6;
  brief.least_blocks = 1;
  const ModeSampler timing = mode_sampler(workload, mode, apparatus);
  const Instruments& instruments = apparatus.instruments;
  std::function<double()> canary;
  if (instruments.canary_ns) canary = [&] { return instruments.canary_ns(kind); };
  const double once =
      judge::median(take_samples(brief, instruments.now, timing.sample, canary).samples_ns);
  workload.run = [run = std::move(workload.run), extra = share * once,
                  &spin = apparatus.instruments.spin](Stream& stream) {
    run(stream);
    spin(extra, stream);
  };
  return workload;
}

bool was_throttled(const Sampled& samples) {
  constexpr double kTolerated = 0.05; // share of blocks: a short spike does not count
  return static_cast<double>(samples.throttled_blocks) >
         kTolerated * static_cast<double>(samples.blocks);
}

// Why the samples are not valid times, or "". A slope is the difference of two times: a single one
// may have any value, but their median must differ from 0.
std::string sample_problem(const std::vector<double>& samples_ns, Mode mode) {
  const bool slopes = mode == Mode::graph;
  const auto impossible = std::find_if_not(samples_ns.begin(), samples_ns.end(), [&](double t) {
    return std::isfinite(t) && (slopes || t > 0);
  });
  if (impossible != samples_ns.end())
    return fmt::format(
        "a sample of {} ns is not a time; the clock is broken, or the run does nothing",
        *impossible);
  if (!slopes) return "";
  const judge::Interval interval = judge::median_interval(samples_ns, judge::kConfidence).interval;
  if (interval.low > 0) return "";
  return fmt::format("the median slope of its graphs lies within [{:.3g}, {:.3g}] ns, which is not "
                     "a time; the run is too short to be told from nothing",
                     interval.low, interval.high);
}

// Recognized by its text, since the runtime has a single exception type. Both backends and
// cudaGetErrorString use these words.
bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::string_view(error.what()).find("out of memory") != std::string_view::npos;
}

// One row, from set-up to the last verification. Records errors in the row's result, or that its
// library is missing. Only `sample` throws.
class Measuring {
 public:
  // Sets up, executes once and verifies.
  Measuring(const Candidate& row, Mode mode, Apparatus& apparatus)
      : kind_(row.kind), mode_(mode), apparatus_(apparatus) {
    attempt("while setting up", [&] { return set_up(row); });
    attempt("before timing", [&] {
      std::string wrong = first_call(workload_, apparatus, result_);
      result_.peak_bytes = peak_allocated_bytes() - held_;
      result_.oversubscribed = peak_allocated_bytes() > apparatus.instruments.device_bytes;
      return wrong;
    });
    attempt("while timing", [&] { return prepare(row.injected); });
  }
  Measuring(const Measuring&) = delete;
  Measuring& operator=(const Measuring&) = delete;

  bool failed() const { return !result_.problem.empty() || !result_.skipped.empty(); }
  bool out_of_memory() const { return result_.out_of_memory; }
  bool lost_device() const {
    return !result_.problem.empty() && !apparatus_.instruments.device_problem().empty();
  }
  const std::string& variant() const { return result_.variant; }

  std::vector<double> sample() { return timing_.sample(); }
  double canary() { return apparatus_.instruments.canary_ns(kind_); }

  // To be called in the handler of an exception that was thrown while this row was timed.
  void fail_by_current_exception() {
    attempt("while timing", []() -> std::string { throw; });
  }

  // `repeated`: the samples are from the second measurement.
  void take(Sampled samples, bool repeated, std::vector<std::string> interleaved_with) {
    result_.repeated = repeated;
    if (was_throttled(samples)) result_.throttled_by = samples.throttled_by;
    result_.interleaved_with = std::move(interleaved_with);
    result_.samples_ns = std::move(samples.samples_ns);
    result_.canaries_ns = std::move(samples.canaries_ns);
    result_.block_medians_ns = std::move(samples.block_medians_ns);
    result_.stop = samples.stop;
    result_.settled = samples.settled;
    attempt("while timing", [&] { return sample_problem(result_.samples_ns, mode_); });
  }

  Measurement finished() {
    attempt("while timing", [&] {
      if (timing_.finish) timing_.finish();
      return std::string();
    });
    attempt("after timing",
            [&] { return run_and_verify(workload_, apparatus_.stream, result_.launches); });
    if (workload_.worst_error) result_.worst_error = workload_.worst_error();
    return std::move(result_);
  }

 private:
  std::string set_up(const Candidate& row) {
    const Instruments& instruments = apparatus_.instruments;
    if (mode_ == Mode::cold)
      if (std::string problem = instruments.cold_problem(); !problem.empty()) return problem;
    reset_persisting_l2();
    // Creates the first canary of its kind here, since that must not happen between samples.
    if (instruments.canary_ns) instruments.canary_ns(kind_);
    held_ = allocated_bytes(); // by the canaries, and by rows interleaved with this one
    reset_peak_allocated_bytes();
    const double start = instruments.now();
    workload_ = row.make();
    result_.setup_ns = instruments.now() - start;
    result_.variant = workload_.variant;
    return "";
  }

  std::string prepare(std::optional<double> injected) {
    if (mode_ == Mode::graph) result_.empty_node_ns = apparatus_.instruments.empty_node_ns();
    if (injected) workload_ = slower(std::move(workload_), *injected, kind_, mode_, apparatus_);
    timing_ = mode_sampler(workload_, mode_, apparatus_);
    result_.batch = timing_.batch;
    return "";
  }

  // Runs a part unless an earlier one failed. A returned text or an exception is the row's problem,
  // or the reason to skip the row.
  template <class Part>
  void attempt(const char* phase, Part part) {
    if (failed()) return;
    std::string fault;
    try {
      fault = part();
    } catch (const NotCapturable& error) {
      // On a device that no longer works, captures fail as well.
      const bool works = apparatus_.instruments.device_problem().empty();
      (works ? result_.skipped : fault) = error.what();
    } catch (const vendor::NotSupported& error) {
      result_.skipped = error.what();
    } catch (const std::exception& error) {
      fault = error.what();
      if (fault.empty()) fault = "it failed, and does not say why";
      result_.out_of_memory = is_out_of_memory(error);
    }
    if (!fault.empty()) result_.problem = fmt::format("{}: {}", phase, fault);
  }

  Bound kind_;
  Mode mode_;
  Apparatus& apparatus_;
  std::size_t held_ = 0;
  Workload workload_;
  ModeSampler timing_; // refers to the workload, which must not move
  Measurement result_;
};

std::vector<std::string> variants_but(const std::vector<Measuring*>& rows, const Measuring* one) {
  std::vector<std::string> names;
  for (const Measuring* row : rows)
    if (row != one) names.push_back(row->variant());
  std::sort(names.begin(), names.end());
  return names;
}

// Times all rows that have not failed, interleaved. If one fails, the others start again without
// it. If the device was throttled, all start again once with idle gaps. Returns the row that left
// the device unusable, or null.
const Measuring* sample_interleaved(std::deque<Measuring>& all, Mode mode, Apparatus& apparatus) {
  bool repeated = false;
  for (;;) {
    std::vector<Measuring*> ready;
    for (Measuring& one : all)
      if (!one.failed()) ready.push_back(&one);
    Measuring* running = nullptr;
    std::vector<Sampler> samplers;
    for (Measuring* one : ready) {
      samplers.push_back({[&running, one] {
        running = one;
        return one->sample();
      }});
      if (apparatus.instruments.canary_ns) samplers.back().canary = [one] { return one->canary(); };
      samplers.back().empties_caches = mode == Mode::cold;
    }
    std::vector<Sampled> samples;
    try {
      samples = take_interleaved_samples(
          repeated ? resting(apparatus.protocol) : apparatus.protocol, apparatus.instruments.now,
          samplers, apparatus.instruments.between_blocks);
    } catch (const std::exception&) {
      running->fail_by_current_exception();
      if (running->lost_device()) return running;
      continue;
    }
    if (!repeated && std::any_of(samples.begin(), samples.end(), was_throttled)) {
      repeated = true;
      continue;
    }
    for (std::size_t i = 0; i < ready.size(); ++i)
      ready[i]->take(std::move(samples[i]), repeated, variants_but(ready, ready[i]));
    return nullptr;
  }
}

// Measures each row separately, if together they exceed the device's memory.
std::vector<Measurement> measure_apart(const std::vector<Candidate>& rows, Mode mode,
                                       Apparatus& apparatus,
                                       const std::function<void(std::size_t)>& begins) {
  std::vector<Measurement> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (begins) begins(i);
    found.push_back(std::move(measure_interleaved({rows[i]}, mode, apparatus).front()));
  }
  return found;
}

} // namespace

const std::vector<Mode>& available_modes() {
  static const std::vector<Mode> modes =
      backend == Backend::cuda ? std::vector<Mode>{Mode::cold, Mode::hot, Mode::graph, Mode::real}
                               : std::vector<Mode>{Mode::real};
  return modes;
}

Measurement measure(const std::function<Workload()>& make, Bound kind, Mode mode,
                    Apparatus& apparatus, std::optional<double> injected) {
  return std::move(measure_interleaved({{make, kind, injected}}, mode, apparatus).front());
}

std::vector<Measurement> measure_interleaved(const std::vector<Candidate>& rows, Mode mode,
                                             Apparatus& apparatus,
                                             const std::function<void(std::size_t)>& begins) {
  std::deque<Measuring> all; // deque: elements must not move
  const Measuring* culprit = nullptr;
  for (std::size_t i = 0; i < rows.size() && !culprit; ++i) {
    if (begins) begins(i);
    all.emplace_back(rows[i], mode, apparatus);
    if (rows.size() > 1 && all.back().out_of_memory()) {
      all.clear();
      return measure_apart(rows, mode, apparatus, begins);
    }
    if (all.back().lost_device()) culprit = &all.back();
  }
  if (!culprit) culprit = sample_interleaved(all, mode, apparatus);
  std::vector<Measurement> found(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (culprit && (i >= all.size() || culprit != &all[i]))
      found[i].abandoned = true;
    else
      found[i] = all[i].finished();
  return found;
}

} // namespace kg::perf
