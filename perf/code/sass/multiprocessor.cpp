// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/multiprocessor.h"

#include "perf/code/timing_model/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

namespace kg::sass {
namespace {

// Issue policy, and the depth of a scheduler's queue of accesses to a unit: Huerta et al.,
// "Dissecting and modeling the architecture of modern GPU cores", MICRO 2025, sections 5.1 and 5.4.
constexpr std::size_t kQueue = 5;
// A barrier takes 21 cycles plus two per warp: fits all block sizes of the A100 logs in
// github.com/burtscher/SyncPerformance (IISWC 2024).
constexpr double kBarrier = 21, kBarrierWarp = 2;
constexpr auto kParts = static_cast<std::size_t>(model::kSchedulers);
constexpr double kNever = std::numeric_limits<double>::infinity();

// Number of measured iterations per warp, fewer if they are long. Half as many run before, until
// the queues are full.
constexpr std::size_t kMostSteps = 50'000, kLeast = 4, kMost = 64;

struct Held {
  double until;
  Waits waits;
  std::size_t step;
};

struct Warp {
  int block = 0;
  std::size_t next = 0;          // step
  double started = 0;            // with its block
  double stalled = 0, ready = 0; // earliest issue: by the stall count alone; by all waits
  Waits waits = Waits::stall;    // the reason between the two
  std::size_t behind = 0;        // the step that it waits for
  double copied = 0;             // when its last copy to shared memory arrives
  double multiplied = 0;         // when its last wgmma completes
  std::deque<Held> products;     // groups of wgmma
  std::array<std::vector<Held>, kCounters> counters;
};

struct ResidentBlock {
  int arrived = 0, finished = 0;
};

struct Unit {
  double free = 0;
  std::deque<double> queue; // when each entry is removed
};

struct Scheduler {
  std::vector<std::size_t> warps;
  std::size_t last = static_cast<std::size_t>(-1); // the last to issue
  std::array<Unit, kPipes> units;
};

class Multiprocessor {
 public:
  Multiprocessor(const std::vector<Step>& steps, const Memory& memory, const Residents& residents,
                 Pipe watched)
      : steps_(steps), memory_(memory), residents_(residents), watched_(watched),
        blocks_(static_cast<std::size_t>(residents.blocks)) {
    for (int block = 0; block < residents.blocks; ++block)
      for (int warp = 0; warp < residents.warps; ++warp) {
        Warp made;
        made.block = block;
        made.started = made.stalled = made.ready = std::floor(block * residents.apart);
        schedulers_[warps_.size() % schedulers_.size()].warps.push_back(warps_.size());
        warps_.push_back(std::move(made));
      }
  }

  Simulated run() {
    const std::size_t warps = warps_.size();
    const auto passes =
        std::clamp<std::size_t>(kMostSteps / (warps * steps_.size()), kLeast, kMost);
    const std::size_t before = warps * std::max<std::size_t>(3, passes / 2);
    bool counted = false;
    double begun = 0, end = 0;
    std::size_t first = 0; // number of the first measured iteration
    for (double now = 0; passes_ < before + warps * passes;) {
      if (!counted && passes_ >= before) {
        counted = true;
        begun = now;
        first = passes_;
      }
      bool issued = false;
      std::array<std::size_t, kParts> by{};
      for (std::size_t i = 0; i < schedulers_.size(); ++i) {
        by[i] = pick(schedulers_[i], now);
        if (by[i] != kNone) issued = true;
      }
      const double then = issued ? now + 1 : next_event(now);
      for (std::size_t i = 0; i < schedulers_.size(); ++i) {
        if (counted && !schedulers_[i].warps.empty()) account(schedulers_[i], by[i], now, then);
        if (by[i] != kNone) issue(schedulers_[i], by[i], now);
      }
      now = then;
      end = now;
    }
    Simulated found;
    found.clocks =
        (end - begun) * static_cast<double>(warps) / static_cast<double>(passes_ - first);
    const auto schedulers = static_cast<double>(std::min(warps, schedulers_.size()));
    for (const auto& [stand, clocks] : idle_)
      found.idle[stand] = clocks / ((end - begun) * schedulers);
    return found;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Unit& unit(Scheduler& scheduler, const Step& step) {
    return scheduler.units[static_cast<std::size_t>(step.pipe)];
  }

  // Only the unit or another warp's turn can prevent it from issuing.
  bool fits(Scheduler& scheduler, const Step& step, double now) {
    Unit& taken = unit(scheduler, step);
    if (!step.queued) return step.clocks == 0 || taken.free < now + 1;
    while (!taken.queue.empty() && taken.queue.front() <= now) taken.queue.pop_front();
    return taken.queue.size() < kQueue;
  }

  // Greedy then youngest: the warp that issued last, otherwise the youngest ready warp.
  std::size_t pick(Scheduler& scheduler, double now) {
    std::size_t best = kNone;
    for (const std::size_t at : scheduler.warps) {
      const Warp& warp = warps_[at];
      if (warp.ready > now || !fits(scheduler, steps_[warp.next], now)) continue;
      if (at == scheduler.last) return at;
      if (best == kNone || warp.started >= warps_[best].started) best = at;
    }
    return best;
  }

  double next_event(double now) {
    double found = kNever;
    for (Scheduler& scheduler : schedulers_)
      for (const std::size_t at : scheduler.warps) {
        const Warp& warp = warps_[at];
        double when = warp.ready;
        if (when <= now) {
          const Step& step = steps_[warp.next];
          const Unit& taken = unit(scheduler, step);
          when = step.queued ? taken.queue.front() : std::floor(taken.free);
        }
        found = std::min(found, std::ceil(when));
      }
    return std::max(found, now + 1);
  }

  // From `now` to `then` the scheduler issues at most once, in the first cycle.
  void account(Scheduler& scheduler, std::size_t issuing, double now, double then) {
    if (watched_ == Pipe::control) {
      if (issuing != kNone) return;
    } else {
      if (issuing != kNone && steps_[warps_[issuing].next].pipe == watched_) return;
      now = std::max(now, scheduler.units[static_cast<std::size_t>(watched_)].free);
      if (now >= then) return;
    }
    const double each = 1 / static_cast<double>(scheduler.warps.size());
    for (const std::size_t at : scheduler.warps) {
      const Warp& warp = warps_[at];
      const double stalled = std::clamp(warp.stalled, now, then);
      if (stalled > now)
        idle_[{warp.next, Waits::stall, preceding(warp.next)}] += each * (stalled - now);
      if (stalled == then) continue;
      if (warp.ready > now && at != issuing) {
        idle_[{warp.next, warp.waits, warp.behind}] += each * (then - stalled);
        continue;
      }
      const Step& step = steps_[warp.next];
      const Waits why = at == issuing || fits(scheduler, step, now) ? Waits::turn
                        : step.queued                               ? Waits::queue
                                                                    : Waits::pipe;
      idle_[{warp.next, why, warp.next}] += each * (then - stalled);
    }
  }

  std::size_t preceding(std::size_t step) const { return (step == 0 ? steps_.size() : step) - 1; }

  static void hold(Warp& warp, int counter, double until, Waits waits) {
    if (counter >= 0)
      warp.counters[static_cast<std::size_t>(counter)].push_back({until, waits, warp.next});
  }

  void issue(Scheduler& scheduler, std::size_t at, double now) {
    Warp& warp = warps_[at];
    const Step& step = steps_[warp.next];
    scheduler.last = at;
    const double taken = take(scheduler, step, now);
    if (step.kind == Step::Kind::load || step.kind == Step::Kind::copy) {
      const double arrived = arrive(step, taken);
      hold(warp, step.control.writes, arrived, step.waits);
      if (step.kind == Step::Kind::copy) warp.copied = std::max(warp.copied, arrived);
    } else if (step.kind == Step::Kind::close) {
      hold(warp, step.control.writes, warp.copied, step.waits);
    } else if (step.kind == Step::Kind::product) {
      warp.multiplied = taken + step.clocks;
      if (step.closes) warp.products.push_back({warp.multiplied, Waits::products, warp.next});
    } else {
      hold(warp, step.control.writes, taken + step.result, step.waits);
    }
    hold(warp, step.control.reads, taken + step.operands, Waits::operands);

    const int stall = std::max(step.control.stall, step.control.yield ? 2 : 1);
    warp.stalled = warp.ready = now + stall;
    warp.next = warp.next + 1 == steps_.size() ? 0 : warp.next + 1;
    if (step.kind == Step::Kind::sync) return meet(warp, now);
    if (warp.next == 0 && finish(warp)) return;
    wait(warp);
  }

  // When its unit starts it.
  double take(Scheduler& scheduler, const Step& step, double now) {
    if (step.clocks == 0) return now;
    Unit& taken = unit(scheduler, step);
    const double begins = std::max(taken.free, now);
    taken.free = begins + step.clocks;
    if (!step.queued) return now;
    const double moves = std::max(begins, shared_free_);
    if (step.transfer > 0) shared_free_ = moves + step.transfer;
    const double left = step.transfer > 0 ? moves : begins;
    taken.queue.push_back(left);
    return left;
  }

  double arrive(const Step& step, double taken) {
    const double latency = step.again ? memory_.l2_latency : memory_.latency;
    port_free_ = std::max(port_free_, taken + latency - step.bytes / memory_.port) +
                 step.bytes / memory_.port;
    return port_free_;
  }

  // Determines what the next instruction waits for.
  void wait(Warp& warp) {
    const Step& step = steps_[warp.next];
    warp.waits = Waits::stall;
    const auto until = [&](const Held& held) {
      if (held.until <= warp.ready) return;
      warp.ready = held.until;
      warp.waits = held.waits;
      warp.behind = held.step;
    };
    for (std::size_t i = 0; i < warp.counters.size(); ++i) {
      std::vector<Held>& counter = warp.counters[i];
      std::erase_if(counter, [&](const Held& held) { return held.until <= warp.stalled; });
      if ((step.control.wait >> i & 1u) != 0)
        for (const Held& held : counter) until(held);
    }
    while (!warp.products.empty() && warp.products.front().until <= warp.stalled)
      warp.products.pop_front();
    const auto left = static_cast<std::size_t>(step.left);
    if (step.kind == Step::Kind::products && warp.products.size() > left)
      until(warp.products[warp.products.size() - left - 1]);
    if (step.kind != Step::Kind::groups) return;
    std::vector<Held> held = warp.counters[static_cast<std::size_t>(step.counter)];
    std::sort(held.begin(), held.end(),
              [](const Held& a, const Held& b) { return a.until < b.until; });
    if (held.size() > left) until(held[held.size() - left - 1]);
  }

  // The last warp to arrive releases all.
  void meet(Warp& warp, double now) {
    ResidentBlock& block = blocks_[static_cast<std::size_t>(warp.block)];
    barrier_free_ = std::max(barrier_free_, now) + kBarrierWarp;
    warp.ready = kNever;
    warp.waits = Waits::barrier;
    warp.behind = preceding(warp.next);
    if (++block.arrived < residents_.warps) return;
    block.arrived = 0;
    for (Warp& other : warps_) {
      if (other.block != warp.block) continue;
      other.ready = std::max(other.stalled, barrier_free_ + kBarrier);
      const double met = other.ready;
      if (other.next == 0 && finish(other)) continue;
      wait(other);
      if (other.ready > met) continue;
      other.waits = Waits::barrier;
      other.behind = preceding(other.next);
    }
  }

  // Returns true if the warp must wait for the other warps of its block.
  bool finish(Warp& warp) {
    ++passes_;
    if (!residents_.restart) return false;
    ResidentBlock& block = blocks_[static_cast<std::size_t>(warp.block)];
    const double ended = warp.stalled;
    warp.ready = kNever;
    warp.waits = Waits::finish;
    warp.behind = preceding(warp.next);
    if (++block.finished < residents_.warps) return true;
    block.finished = 0;
    for (Warp& other : warps_) {
      if (other.block != warp.block) continue;
      other.started = other.stalled = other.ready = ended;
      other.waits = Waits::finish;
      for (std::vector<Held>& counter : other.counters) counter.clear();
      other.copied = other.multiplied = 0;
      other.products.clear();
    }
    return true;
  }

  const std::vector<Step>& steps_;
  const Memory& memory_;
  const Residents& residents_;
  const Pipe watched_;
  std::vector<Warp> warps_;
  std::vector<ResidentBlock> blocks_;
  std::array<Scheduler, kParts> schedulers_;
  double shared_free_ = 0, port_free_ = 0, barrier_free_ = 0; // shared by all schedulers
  std::size_t passes_ = 0;                                    // of all warps
  std::map<Stand, double> idle_;
};

} // namespace

Simulated simulate(const std::vector<Step>& steps, const Memory& memory, const Residents& residents,
                   Pipe watched) {
  return Multiprocessor(steps, memory, residents, watched).run();
}

} // namespace kg::sass
