// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/sampling.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <span>
#include <string>
#include <utility>

namespace kg::perf {
namespace {

using SampleFunction = std::function<std::vector<double>()>;

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Whether the medians of the last windows of `samples` agree.
bool agree(const Protocol& protocol, std::span<const double> samples) {
  const std::size_t needed = protocol.warm_up_windows * protocol.warm_up_window;
  if (samples.size() < needed) return false;
  const std::span<const double> last = samples.last(needed);
  std::vector<double> medians;
  for (std::size_t i = 0; i < needed; i += protocol.warm_up_window)
    medians.push_back(judge::median(last.subspan(i, protocol.warm_up_window)));
  const auto [least, greatest] = std::minmax_element(medians.begin(), medians.end());
  return *greatest - *least <= protocol.warm_up_agreement * *greatest;
}

bool warm_up(const Protocol& protocol, const Clock& now, const SampleFunction& sample) {
  std::vector<double> samples;
  const double start = now();
  for (;;) {
    append(samples, sample());
    const double spent = now() - start;
    if (spent >= protocol.warm_up_least_ns && agree(protocol, samples)) return true;
    if (spent >= protocol.warm_up_most_ns) return false;
  }
}

// One row, block by block.
class RowSampling {
 public:
  // Warms up.
  RowSampling(const Protocol& protocol, const Clock& now, const Sampler& row,
              const BetweenBlocks& between)
      : protocol_(protocol), now_(now), row_(row), between_(between) {
    const double start = now();
    result_.settled = warm_up(protocol, now, row.sample);
    const double took = now() - start;
    run_canary();
    rest_after(took);
  }

  bool finished() const { return result_.stop != judge::Stop::no; }
  Sampled& result() { return result_; }

  // These samples do not count.
  void refill_caches() {
    if (!row_.empties_caches) row_.sample();
  }

  void take_block() {
    // A fast row would finish within one block. Its first blocks are limited to an equal share of
    // the minimum number of samples, so that canaries and row cover the same time.
    const std::size_t share = std::max<std::size_t>(
        1, protocol_.stop.least / std::max<std::size_t>(1, protocol_.least_blocks));
    std::vector<double>& samples = result_.samples_ns;
    const std::size_t before = samples.size();
    const double start = now_();
    double block = 0;
    do {
      append(samples, row_.sample());
      block = now_() - start;
      if (result_.blocks < protocol_.least_blocks && samples.size() - before >= share) break;
    } while (block < protocol_.block_ns && samples.size() < protocol_.stop.most);
    spent_ += block;
    ++result_.blocks;
    result_.block_medians_ns.push_back(
        judge::median(std::span<const double>(samples).subspan(before)));
    ask_whether_throttled();
    run_canary();
    rest_after(block);
    result_.stop = judge::should_stop(protocol_.stop, samples, spent_);
  }

 private:
  void run_canary() {
    if (row_.canary) result_.canaries_ns.push_back(row_.canary());
  }

  void rest_after(double ns) {
    if (protocol_.rest > 0 && between_.rest) between_.rest(protocol_.rest * ns);
  }

  void ask_whether_throttled() {
    if (!between_.throttled) return;
    const std::string reason = between_.throttled();
    if (reason.empty()) return;
    ++result_.throttled_blocks;
    result_.throttled_by = reason;
  }

  const Protocol& protocol_;
  const Clock& now_;
  const Sampler& row_;
  const BetweenBlocks& between_;
  Sampled result_;
  double spent_ = 0; // on samples; canaries are not counted
};

} // namespace

Clock steady_clock() {
  return [] {
    using namespace std::chrono;
    return duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
}

Protocol gpu_protocol() { return {}; }

Protocol host_protocol() {
  Protocol protocol;
  // On shared cores 0.5 % is out of reach. Below 2 %, more samples of one process do not help,
  // since processes differ by more.
  protocol.stop.half_width = 0.01;
  protocol.warm_up_agreement = 0.03;
  protocol.warm_up_most_ns = 100e6;
  return protocol;
}

Protocol brief(Protocol protocol) {
  protocol.stop.budget_ns = 40e6;
  protocol.warm_up_least_ns = 5e6;
  protocol.warm_up_most_ns = 15e6;
  protocol.least_blocks = 5;
  protocol.block_ns = 8e6;
  return protocol;
}

Protocol interleaved(Protocol protocol) {
  protocol.stop.half_width = 0;
  protocol.stop.most = 100'000;
  protocol.stop.budget_ns = 45e6;
  protocol.least_blocks = 0; // no block is cut short
  protocol.block_ns = 3e6;
  return protocol;
}

Protocol resting(Protocol protocol) {
  protocol.warm_up_least_ns = 0; // the device is warm
  protocol.warm_up_windows = protocol.warm_up_window = 1;
  protocol.block_ns = std::min(protocol.block_ns, 2e6);
  protocol.rest = 4;
  return protocol;
}

Sampled take_samples(const Protocol& protocol, const Clock& now, const SampleFunction& sample,
                     const std::function<double()>& canary, const BetweenBlocks& between) {
  return std::move(take_interleaved_samples(protocol, now, {{sample, canary}}, between).front());
}

std::vector<Sampled> take_interleaved_samples(const Protocol& protocol, const Clock& now,
                                              const std::vector<Sampler>& rows,
                                              const BetweenBlocks& between) {
  std::deque<RowSampling> all;
  std::vector<RowSampling*> left;
  for (const Sampler& row : rows) left.push_back(&all.emplace_back(protocol, now, row, between));
  for (bool again = false; !left.empty(); again = true) {
    const bool passed = again && between.pass_turn;
    if (passed) between.pass_turn();
    for (RowSampling* one : left) {
      if (passed || rows.size() > 1) one->refill_caches();
      one->take_block();
    }
    std::erase_if(left, [](const RowSampling* one) { return one->finished(); });
  }
  std::vector<Sampled> sampled;
  for (RowSampling& one : all) sampled.push_back(std::move(one.result()));
  return sampled;
}

} // namespace kg::perf
