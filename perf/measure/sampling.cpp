// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/sampling.h"

#include <algorithm>
#include <chrono>
#include <span>

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
  // On shared cores half a percent is out of reach; 2 % is where more samples of one process stop
  // helping, since processes differ by more.
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

Protocol in_turns(Protocol protocol) {
  protocol.stop.half_width = 0;
  protocol.stop.most = 100'000;
  protocol.stop.budget_ns = 45e6;
  protocol.least_blocks = 0; // none is cut short
  protocol.block_ns = 3e6;
  return protocol;
}

Sampled take_samples(const Protocol& protocol, const Clock& now, const SampleFunction& sample,
                     const std::function<double()>& canary, const BetweenBlocks& between) {
  Sampled result;
  result.settled = warm_up(protocol, now, sample);
  const auto run_canary = [&] {
    if (canary) result.canaries_ns.push_back(canary());
  };
  run_canary();

  double spent = 0; // on samples; canaries are not counted
  const auto finished = [&] {
    result.stop = judge::should_stop(protocol.stop, result.samples_ns, spent);
    return result.stop != judge::Stop::no;
  };
  // A fast row would be done within one block. Its first blocks are cut to an equal share of the
  // least number of samples, so that the canaries see the same stretch of time as the row.
  const std::size_t share = std::max<std::size_t>(
      1, protocol.stop.least / std::max<std::size_t>(1, protocol.least_blocks));
  for (;;) {
    const std::size_t before = result.samples_ns.size();
    const double start = now();
    double block = 0;
    do {
      append(result.samples_ns, sample());
      block = now() - start;
      if (result.blocks < protocol.least_blocks && result.samples_ns.size() - before >= share)
        break;
    } while (block < protocol.block_ns && result.samples_ns.size() < protocol.stop.most);
    spent += block;
    ++result.blocks;
    result.block_medians_ns.push_back(
        judge::median(std::span<const double>(result.samples_ns).subspan(before)));
    if (const std::string reason = between.throttled ? between.throttled() : ""; !reason.empty()) {
      ++result.throttled_blocks;
      result.throttled_by = reason;
    }
    run_canary();
    if (finished()) break;
    if (between.pass_turn) {
      between.pass_turn();
      sample(); // not counted: others have had the caches
    }
  }
  return result;
}

} // namespace kg::perf
