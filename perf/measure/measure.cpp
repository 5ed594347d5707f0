// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/measure.h"

#include "perf/judge/result.h"
#include "perf/measure/flush.h"
#include "perf/measure/graph_slope.h"
#include "runtime/backend.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "vendor/not_supported.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <string_view>
#include <utility>

namespace kg::perf {
namespace {

// A fresh execution on outputs that nothing can pass for right, and the launches that it made;
// empty, or what is wrong with the result.
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

// Takes the time of the first execution; empty, or why it is wrong.
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

// What a caller waits: from the call on an idle stream to completion. Waits too short for the
// clock, which resolves some 20 ns, are timed several in a row.
class RealSampler {
 public:
  RealSampler(const Workload& workload, const Clock& now, Stream& stream)
      : workload_(workload), now_(now), stream_(stream) {
    constexpr double kClockNs = 5e3; // here the clock is good for half a percent
    constexpr int kMost = 1000;
    const double once = std::max(1.0, sample());
    batch_ = std::clamp(static_cast<int>(std::ceil(kClockNs / once)), 1, kMost);
  }

  int batch() const { return batch_; }

  double sample() {
    const double start = now_();
    for (int i = 0; i < batch_; ++i) {
      workload_.run(stream_);
      stream_.synchronize();
    }
    return (now_() - start) / batch_;
  }

 private:
  const Workload& workload_;
  const Clock& now_;
  Stream& stream_;
  int batch_ = 1;
};

// Events resolve about 0.5 us (CUDA Runtime API, cudaEventElapsedTime): a sample of 50 us is exact
// to a percent.
constexpr double kSampleNs = 50e3;
constexpr int kMostPerSample = 64;

// An upper bound of what queueing one launch costs the caller.
constexpr double kEnqueueNs = 5e3;

// Device time with the cache as the row itself leaves it. The delay keeps the GPU busy until the
// batch is queued, so that gaps between launches are the device's, not the caller's.
class HotSampler {
 public:
  HotSampler(const Workload& workload, Stream& stream) : workload_(workload), stream_(stream) {
    constexpr int kPrime = 3;
    for (int i = 0; i < kPrime; ++i) workload_.run(stream_);
    const double once = std::max(1.0, sample());
    batch_ = std::clamp(static_cast<int>(std::ceil(kSampleNs / once)), 1, kMostPerSample);
  }

  int batch() const { return batch_; }

  double sample() {
    delay(kEnqueueNs * (batch_ + 2), stream_);
    start_.record(stream_);
    for (int i = 0; i < batch_; ++i) workload_.run(stream_);
    stop_.record(stream_);
    stop_.synchronize();
    return elapsed_ns(start_, stop_) / batch_;
  }

 private:
  const Workload& workload_;
  Stream& stream_;
  Event start_;
  Event stop_;
  int batch_ = 1;
};

// Device time from memory. Several samples are queued behind one another, since a GPU that idles
// between samples lowers its clock; the flush before each gives the caller time to queue it.
class ColdSampler {
 public:
  ColdSampler(const Workload& workload, const std::function<void(Stream&)>& flush, Stream& stream)
      : workload_(workload), flush_(flush), stream_(stream), start_(kQueued), stop_(kQueued) {}

  std::vector<double> samples() {
    for (std::size_t i = 0; i < kQueued; ++i) {
      flush_(stream_);
      start_[i].record(stream_);
      workload_.run(stream_);
      stop_[i].record(stream_);
    }
    stop_.back().synchronize();
    std::vector<double> samples;
    for (std::size_t i = 0; i < kQueued; ++i) samples.push_back(elapsed_ns(start_[i], stop_[i]));
    return samples;
  }

 private:
  static constexpr std::size_t kQueued = 8;
  const Workload& workload_;
  const std::function<void(Stream&)>& flush_;
  Stream& stream_;
  std::vector<Event> start_;
  std::vector<Event> stop_;
};

Sampled sampled(const Workload& workload, Kind kind, Mode mode, const Protocol& protocol,
                Apparatus& apparatus, const BetweenBlocks& between, int& batch) {
  const Instruments& instruments = apparatus.instruments;
  Stream& stream = apparatus.stream;
  std::function<double()> canary;
  if (instruments.canary_ns) canary = [&] { return instruments.canary_ns(kind); };
  switch (mode) {
  case Mode::real: {
    RealSampler real(workload, instruments.now, stream);
    batch = real.batch();
    return take_samples(
        protocol, instruments.now, [&] { return std::vector<double>{real.sample()}; }, canary,
        between);
  }
  case Mode::hot: {
    HotSampler hot(workload, stream);
    batch = hot.batch();
    return take_samples(
        protocol, instruments.now, [&] { return std::vector<double>{hot.sample()}; }, canary,
        between);
  }
  case Mode::cold: {
    ColdSampler cold(workload, instruments.flush, stream);
    return take_samples(
        protocol, instruments.now, [&] { return cold.samples(); }, canary, between);
  }
  case Mode::graph: {
    GraphSlope graph(workload.run, stream, instruments.graph_ns);
    batch = graph.more();
    Sampled samples = take_samples(
        protocol, instruments.now, [&] { return std::vector<double>{graph.sample()}; }, canary,
        between);
    workload.poison(stream);
    graph.replay();
    stream.synchronize();
    if (const std::string wrong = workload.verify(stream); !wrong.empty())
      throw Error("replayed from a graph: " + wrong);
    return samples;
  }
  }
  fail(fmt::format("there is no mode {}", static_cast<int>(mode)));
}

// The workload, each execution of which takes longer by this share of what it takes in this mode.
// That share is found out once: each execution then has the same amount added, as a real change
// would.
Workload slower(Workload workload, double share, Kind kind, Mode mode, Apparatus& apparatus) {
  Protocol brief = apparatus.protocol;
  brief.stop.least = 30;
  brief.stop.most = 100;
  brief.stop.budget_ns = 30e6;
  brief.least_blocks = 1;
  int batch = 1;
  const double once =
      judge::median(sampled(workload, kind, mode, brief, apparatus, {}, batch).samples_ns);
  workload.run = [run = std::move(workload.run), extra = share * once,
                  &spin = apparatus.instruments.spin](Stream& stream) {
    run(stream);
    spin(extra, stream);
  };
  return workload;
}

bool was_throttled(const Sampled& samples) {
  constexpr double kTolerated = 0.05; // of the blocks: a spike is no state of the device
  return static_cast<double>(samples.throttled_blocks) >
         kTolerated * static_cast<double>(samples.blocks);
}

// Empty, or why the samples are no times. A slope is a difference of two times: a single one may be
// anything, but their median must be told from 0.
std::string sample_problem(const std::vector<double>& samples_ns, Mode mode) {
  const bool slopes = mode == Mode::graph;
  const auto impossible = std::find_if_not(samples_ns.begin(), samples_ns.end(), [&](double t) {
    return std::isfinite(t) && (slopes || t > 0);
  });
  if (impossible != samples_ns.end())
    return fmt::format("a sample of {} ns is no time; the clock is broken, or the run does nothing",
                       *impossible);
  if (!slopes) return "";
  const judge::Interval interval = judge::median_interval(samples_ns, judge::kConfidence).interval;
  if (interval.low > 0) return "";
  return fmt::format("the median slope of its graphs lies within [{:.3g}, {:.3g}] ns, which is no "
                     "time; the run takes too little to be told from nothing",
                     interval.low, interval.high);
}

// By its text, since the runtime has one exception for whatever goes wrong; both backends and
// cudaGetErrorString say it in these words.
bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::string_view(error.what()).find("out of memory") != std::string_view::npos;
}

} // namespace

const std::vector<Mode>& available_modes() {
  static const std::vector<Mode> modes =
      backend == Backend::cuda ? std::vector<Mode>{Mode::cold, Mode::hot, Mode::graph, Mode::real}
                               : std::vector<Mode>{Mode::real};
  return modes;
}

Measurement measure(const std::function<Workload()>& make, Kind kind, Mode mode,
                    Apparatus& apparatus, std::optional<double> injected) {
  Measurement result;
  const char* phase = "while setting up";
  try {
    if (mode == Mode::cold) result.problem = apparatus.instruments.cold_problem();
    if (!result.problem.empty()) return result;

    reset_persisting_l2();
    // Makes it, if it is the first of its kind: that must not happen between samples.
    if (apparatus.instruments.canary_ns) apparatus.instruments.canary_ns(kind);
    const std::size_t held = allocated_bytes(); // by the canaries
    reset_peak_allocated_bytes();
    const double start = apparatus.instruments.now();
    Workload workload = make();
    result.setup_ns = apparatus.instruments.now() - start;
    result.variant = workload.variant;
    phase = "before timing";
    result.problem = first_call(workload, apparatus, result);
    if (result.problem.empty()) {
      phase = "while timing";
      if (mode == Mode::graph) result.empty_node_ns = apparatus.instruments.empty_node_ns();
      if (injected) workload = slower(std::move(workload), *injected, kind, mode, apparatus);
      const auto take = [&] {
        return sampled(workload, kind, mode, apparatus.protocol, apparatus,
                       apparatus.instruments.between_blocks, result.batch);
      };
      Sampled samples = take();
      result.repeated = was_throttled(samples);
      if (result.repeated) samples = take();
      if (was_throttled(samples)) result.throttled_by = samples.throttled_by;
      result.samples_ns = std::move(samples.samples_ns);
      result.canaries_ns = std::move(samples.canaries_ns);
      result.block_medians_ns = std::move(samples.block_medians_ns);
      result.stop = samples.stop;
      result.settled = samples.settled;
      result.problem = sample_problem(result.samples_ns, mode);
    }
    if (result.problem.empty()) {
      phase = "after timing";
      result.problem = run_and_verify(workload, apparatus.stream, result.launches);
    }
    if (workload.worst_error) result.worst_error = workload.worst_error();
    result.peak_bytes = peak_allocated_bytes() - held;
    result.oversubscribed = peak_allocated_bytes() > apparatus.instruments.device_bytes;
  } catch (const NotCapturable& error) {
    // Nothing can be captured either on a device that works no more.
    const bool works = apparatus.instruments.device_problem().empty();
    (works ? result.skipped : result.problem) = error.what();
  } catch (const vendor::NotSupported& error) {
    result.skipped = error.what();
  } catch (const std::exception& error) {
    result.problem = error.what();
    result.out_of_memory = is_out_of_memory(error);
  }
  if (!result.problem.empty()) result.problem = fmt::format("{}: {}", phase, result.problem);
  return result;
}

} // namespace kg::perf
