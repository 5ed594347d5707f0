// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/flight.h"

#include "perf/code/sass/pipes.h"
#include "perf/code/sass/registers.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <string_view>

namespace kg::sass {
namespace {

struct Load {
  const Instruction* instruction;
  std::vector<int> registers; // empty: to shared memory
  std::string guard;          // also empty if its predicate has been overwritten since
  int bytes = 0;
  int group = -1; // closed by LDGDEPBAR; -1: loads to registers, or still open
  int round = 0;  // number of waits before it was issued
};

bool is_followed(const Instruction& one) {
  const Space space = space_of(one);
  return (space == Space::global || space == Space::generic) && is_load(one);
}

bool share(const std::vector<int>& a, const std::vector<int>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

// "P0" and "!P0": a thread executes only one of the two.
bool exclude(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && (a == "!" + b || b == "!" + a);
}

class Thread {
 public:
  Flight flight; // of this iteration

  void begin_pass() { flight = {}; }
  int round() const { return round_; }

  void execute(const Instruction& one) {
    const Registers registers = registers_of(one);
    if (one.opcode == "DEPBAR")
      wait_for_groups(one);
    else
      wait_for(one, registers);
    if (one.opcode == "LDGDEPBAR") close_group();
    for (Load& load : under_way_)
      for (const std::string& predicate : registers.predicates)
        if (load.guard == predicate || load.guard == "!" + predicate) load.guard.clear();
    if (is_followed(one)) issue(one, registers);
  }

 private:
  void issue(const Instruction& one, const Registers& registers) {
    Load load{&one, registers.written, one.guard, bytes_moved(one), -1, round_};
    flight.loads += 1;
    flight.bytes += load.bytes;
    under_way_.push_back(std::move(load));
    int bytes = 0;
    for (const Load& other : under_way_) bytes += other.bytes;
    flight.most_bytes = std::max(flight.most_bytes, bytes);
  }

  void wait_for(const Instruction& one, const Registers& registers) {
    for (std::size_t at = under_way_.size(); at-- > 0;)
      if (!exclude(under_way_[at].guard, one.guard) &&
          (share(under_way_[at].registers, registers.read) ||
           share(under_way_[at].registers, registers.written)))
        return arrive(at + 1, one);
  }

  void close_group() {
    for (Load& load : under_way_)
      if (load.registers.empty() && load.group < 0) load.group = groups_;
    ++groups_;
  }

  // DEPBAR.LE SB0, 0x2: at most the two newest groups are still in flight.
  void wait_for_groups(const Instruction& one) {
    if (one.operands.size() < 2 || !one.has("LE")) return;
    std::string_view left = one.operands[1];
    if (left.starts_with("0x")) left.remove_prefix(2);
    int number = 0;
    std::from_chars(left.data(), left.data() + left.size(), number, 16);
    for (std::size_t at = under_way_.size(); at-- > 0;)
      if (under_way_[at].group >= 0 && under_way_[at].group < groups_ - number)
        return arrive(at + 1, one);
  }

  // The first `count` loads have arrived. If all of them were issued before an earlier wait, this
  // wait costs no additional round trip.
  void arrive(std::size_t count, const Instruction& by) {
    const Load& last = under_way_[count - 1];
    Wait wait;
    wait.line = under_way_.front().instruction->line;
    wait.kernel_line = under_way_.front().instruction->kernel_line;
    wait.used_at = by.line;
    wait.used_by = by.opcode;
    wait.loads = static_cast<int>(count);
    for (std::size_t i = 0; i < count; ++i) {
      wait.bytes += under_way_[i].bytes;
      wait.width = std::max(wait.width, under_way_[i].bytes);
    }
    wait.round_trip = last.round == round_;
    if (wait.round_trip) ++round_;
    flight.waits.push_back(std::move(wait));
    under_way_.erase(under_way_.begin(), under_way_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  std::deque<Load> under_way_; // in order of issue
  int round_ = 0;
  int groups_ = 0;
};

} // namespace

Flight flight_of(const std::vector<Instruction>& code, const std::vector<std::size_t>& path,
                 bool loop) {
  // The typical depth of load pipelines; twice as many iterations are followed.
  constexpr int kAhead = 4;
  Thread thread;
  const int passes = loop ? 2 * kAhead : 1;
  int before = 0;
  for (int pass = 0; pass < passes; ++pass) {
    if (pass == passes - kAhead) before = thread.round();
    thread.begin_pass();
    for (const std::size_t at : path) thread.execute(code[at]);
  }
  thread.flight.round_trips = static_cast<double>(thread.round() - before) / (loop ? kAhead : 1);
  return thread.flight;
}

} // namespace kg::sass
