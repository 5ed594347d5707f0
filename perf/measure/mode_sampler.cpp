// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/mode_sampler.h"

#include "perf/measure/flush.h"
#include "perf/measure/graph_slope.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kg::perf {
namespace {

// Wall-clock time of a call on an idle stream until completion. Times too short for the clock,
// which has a resolution of about 20 ns, are measured over several calls in a row.
class RealSampler {
 public:
  RealSampler(const Workload& workload, const Clock& now, Stream& stream)
      : workload_(workload), now_(now), stream_(stream) {
    constexpr double kClockNs = 5e3; // at which the clock is accurate to half a percent
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

// Events have a resolution of about 0.5 us (CUDA Runtime API, cudaEventElapsedTime), so a sample of
// 50 us is accurate to a percent.
constexpr double kSampleNs = 50e3;
constexpr int kMostPerSample = 64;

// Device time with the cache as the row itself leaves it. The delay keeps the GPU busy until the
// batch is queued, so that gaps between launches are the device's and not the caller's. The delay
// is twice the time to queue the batch, from the slowest of the first executions.
class HotSampler {
 public:
  HotSampler(const Workload& workload, const Clock& now, Stream& stream)
      : workload_(workload), stream_(stream) {
    constexpr int kPrime = 3, kQueued = 8;
    for (int i = 0; i < kPrime; ++i) workload_.run(stream_);
    for (int i = 0; i < kQueued; ++i) {
      const double start = now();
      workload_.run(stream_);
      enqueue_ns_ = std::max(enqueue_ns_, now() - start);
    }
    const double once = std::max(1.0, sample());
    batch_ = std::clamp(static_cast<int>(std::ceil(kSampleNs / once)), 1, kMostPerSample);
  }

  int batch() const { return batch_; }

  double sample() {
    delay(2 * enqueue_ns_ * (batch_ + 2), stream_);
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
  double enqueue_ns_ = 0; // per execution
  int batch_ = 1;
};

// Device time with a cold cache. Several samples are queued in sequence, since a GPU that idles
// between samples lowers its clock. The flush before each sample gives the caller time to queue it.
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

// Wraps the sampler's `sample()`. The sampler lives as long as the copies of this function.
template <class Timing>
ModeSampler one_by_one(std::shared_ptr<Timing> timing, int batch) {
  return {[timing] { return std::vector<double>{timing->sample()}; }, batch};
}

} // namespace

ModeSampler mode_sampler(const Workload& workload, Mode mode, Apparatus& apparatus) {
  const Instruments& instruments = apparatus.instruments;
  Stream& stream = apparatus.stream;
  switch (mode) {
  case Mode::real: {
    const auto real = std::make_shared<RealSampler>(workload, instruments.now, stream);
    return one_by_one(real, real->batch());
  }
  case Mode::hot: {
    const auto hot = std::make_shared<HotSampler>(workload, instruments.now, stream);
    return one_by_one(hot, hot->batch());
  }
  case Mode::cold: {
    const auto cold = std::make_shared<ColdSampler>(workload, instruments.flush, stream);
    return {[cold] { return cold->samples(); }};
  }
  case Mode::graph: {
    const auto graph = std::make_shared<GraphSlope>(workload.run, stream, instruments.graph_ns);
    ModeSampler sampler = one_by_one(graph, graph->more());
    sampler.finish = [graph, &workload, &stream] {
      workload.poison(stream);
      graph->replay();
      stream.synchronize();
      if (const std::string wrong = workload.verify(stream); !wrong.empty())
        throw Error("replayed from a graph: " + wrong);
    };
    return sampler;
  }
  }
  fail(fmt::format("unknown mode {}", static_cast<int>(mode)));
}

} // namespace kg::perf
