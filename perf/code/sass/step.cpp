// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/step.h"

#include "perf/code/sass/products.h"
#include "perf/code/sass/registers.h"
#include "perf/code/timing_model/model.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace kg::sass {
namespace {

// Cycles of accesses with 4, 8 and 16 bytes per thread: Huerta et al., "Dissecting and modeling the
// architecture of modern GPU cores", MICRO 2025, table 2 (an RTX A6000), regular registers.
struct ByWidth {
  double narrow, two, four;
  double of(int bytes) const { return bytes >= 16 ? four : bytes >= 8 ? two : narrow; }
};
constexpr ByWidth kSharedLoadResult = {24, 24, 26}, kGlobalStoreRead = {14, 16, 20},
                  kSharedStoreRead = {12, 14, 18};
constexpr double kGlobalLoadRead = 11, kSharedLoadRead = 9, kCopyRead = 13;
constexpr double kConstant = 26, kConstantByRegister = 29;
// MUFU, POPC, FLO, BREV: Jia et al., "Dissecting the NVidia Turing T4 GPU via microbenchmarking",
// 2019 (arXiv 1903.07486), table of latencies. Conversions are unpublished but share the unit.
constexpr double kSpecial = 15;
// __shfl_sync, dependent: A100 logs in github.com/burtscher/SyncPerformance (IISWC 2024).
constexpr double kShuffle = 25;

bool is_one_of(const Instruction& one, std::initializer_list<std::string_view> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), one.opcode) != opcodes.end();
}

// Instructions of other units, whose time is unknown to both `clocks_of` and this model.
bool is_beyond(const Instruction& one, bool multiplies) {
  if (is_one_of(one, {"SYNCS", "UBLKCP", "UTMALDG", "UTMASTG", "UTMAREDG"})) return !multiplies;
  if (is_one_of(one, {"HGMMA", "IGMMA", "QGMMA", "BGMMA"})) return !product_of(one);
  return is_one_of(one, {"UCGABAR_WAIT", "CGAERRBAR"}) || pipe_of(one) == Pipe::unknown;
}

int number_in(std::string_view text) {
  int number = 0;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  return number;
}

// DEPBAR.LE SB0, 0x2, {4,3}: the counters in braces must also be zero.
void read_depbar(Step& step, const Instruction& one) {
  if (!one.has("LE") || one.operands.size() < 2 || !one.operands[0].starts_with("SB")) return;
  step.kind = Step::Kind::groups;
  step.counter =
      std::clamp(number_in(std::string_view(one.operands[0]).substr(2)), 0, kCounters - 1);
  step.left = number_in(one.operands[1]);
  for (std::size_t i = 2; i < one.operands.size(); ++i)
    for (const char digit : one.operands[i])
      if (digit >= '0' && digit < '0' + kCounters) step.control.wait |= 1u << (digit - '0');
}

// WARPGROUP.DEPBAR.LE gsb0, 0x1
void read_warpgroup(Step& step, const Instruction& one) {
  if (!one.has("DEPBAR") || one.operands.size() < 2) return;
  step.kind = Step::Kind::products;
  step.left = number_in(one.operands[1]);
}

void read_product(Step& step, const Product& product) {
  step.kind = Step::Kind::product;
  step.queued = true;
  step.closes = product.closes_group;
}

void read_global(Step& step, const Instruction& one) {
  const int bytes = bytes_moved(one);
  step.bytes = model::kLanes * bytes;
  step.waits = Waits::loaded;
  if (is_store(one)) {
    step.kind = Step::Kind::store;
    step.operands = kGlobalStoreRead.of(bytes);
  } else {
    step.kind = one.opcode == "LDGSTS" ? Step::Kind::copy : Step::Kind::load;
    step.operands = one.opcode == "LDGSTS" ? kCopyRead : kGlobalLoadRead;
  }
}

void read_shared(Step& step, const Instruction& one) {
  const int bytes = bytes_moved(one);
  step.waits = Waits::shared;
  step.operands = is_store(one) ? kSharedStoreRead.of(bytes) : kSharedLoadRead;
  step.result = is_store(one) ? step.operands : kSharedLoadResult.of(bytes);
}

void read_other(Step& step, const Instruction& one) {
  if (one.opcode == "BAR" && (one.has("SYNC") || one.has("RED"))) {
    step.kind = Step::Kind::sync;
  } else if (one.opcode == "LDGDEPBAR") {
    step.kind = Step::Kind::close;
    step.waits = Waits::copied;
  } else if (one.opcode == "DEPBAR") {
    read_depbar(step, one);
  } else if (const auto product = product_of(one)) {
    read_product(step, *product);
  } else if (one.opcode == "WARPGROUP") {
    read_warpgroup(step, one);
  } else if (one.opcode == "SYNCS") { // an mbarrier is a word of shared memory
    step.waits = Waits::shared;
    step.operands = kSharedLoadRead;
    step.result = kSharedLoadResult.narrow;
  } else if (step.pipe == Pipe::xu) {
    step.waits = Waits::special;
    step.operands = step.result = kSpecial;
  } else if (step.pipe == Pipe::lsu) { // SHFL and similar
    step.waits = Waits::shuffled;
    step.operands = kSharedLoadRead;
    step.result = kShuffle;
  } else { // LDC; unpublished for S2R and others that hold a counter
    const bool by_register =
        std::any_of(one.operands.begin(), one.operands.end(),
                    [](const std::string& operand) { return operand.find("[R") != operand.npos; });
    step.waits = Waits::constant;
    step.operands = step.result = by_register ? kConstantByRegister : kConstant;
  }
}

Step step_of(const Instruction& one, const Rates& rates, bool replaced) {
  Step step;
  step.control = *one.control;
  step.control.stall += static_cast<int>(one.called);
  const bool never = one.guard == "!PT";
  if (replaced || (never && pipe_of(one) != Pipe::lsu)) {
    step.kind = Step::Kind::nothing;
    return step;
  }
  step.pipe = pipe_of(one);
  step.queued = step.pipe == Pipe::lsu || step.pipe == Pipe::xu;
  step.clocks = clocks_of(one, rates);
  step.multiplies = step.pipe == Pipe::tensor ? matrix_clocks(one, rates) : 0;
  if (never) { // nvcc's fillers before cp.async: they occupy the unit without data
    step.kind = Step::Kind::nothing;
    step.clocks = rates.lsu;
    return step;
  }
  if (step.pipe == Pipe::lsu) { // each computes its addresses; the data pass through a shared unit
    step.transfer = step.clocks / model::kSchedulers;
    step.clocks = rates.lsu;
  }
  switch (space_of(one)) {
  case Space::global:
  case Space::generic: read_global(step, one); break;
  case Space::shared:
  case Space::local: read_shared(step, one); break;
  case Space::none:
  case Space::constant: read_other(step, one); break;
  }
  return step;
}

bool writes(const Instruction& one, std::string_view predicate) {
  const std::vector<std::string> written = registers_of(one).predicates;
  return std::find(written.begin(), written.end(), predicate) != written.end();
}

// Whether a nearby access under the opposite guard is wider.
bool is_replaced(const std::vector<Instruction>& path, std::size_t at) {
  const Instruction& one = path[at];
  if (one.guard.empty() || space_of(one) == Space::none) return false;
  const bool negated = one.guard.starts_with('!');
  const std::string predicate = one.guard.substr(negated ? 1 : 0);
  const std::string opposite = negated ? predicate : "!" + predicate;
  const auto is_wider = [&](const Instruction& other) {
    return other.guard == opposite && space_of(other) == space_of(one) &&
           is_load(other) == is_load(one) && bytes_moved(other) > bytes_moved(one);
  };
  for (std::size_t next = at + 1; next < path.size() && !writes(path[next], predicate); ++next)
    if (is_wider(path[next])) return true;
  for (std::size_t before = at; before-- > 0 && !writes(path[before], predicate);)
    if (is_wider(path[before])) return true;
  return false;
}

} // namespace

std::string_view name(Waits waits) {
  constexpr std::string_view kNames[kWaits] = {"loaded data",
                                               "copies to shared memory",
                                               "shared memory",
                                               "shuffles",
                                               "special functions",
                                               "constants",
                                               "operands being read",
                                               "the block",
                                               "stall",
                                               "a busy pipe",
                                               "a full queue",
                                               "its turn",
                                               "the block's end",
                                               "matrix products"};
  return kNames[static_cast<int>(waits)];
}

std::vector<Step> steps_of(const std::vector<Instruction>& path, const Rates& rates,
                           const std::vector<bool>& rereads) {
  std::vector<Step> steps;
  const bool multiplies = std::any_of(
      path.begin(), path.end(), [](const Instruction& one) { return product_of(one).has_value(); });
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (!path[at].control || is_beyond(path[at], multiplies)) return {};
    steps.push_back(step_of(path[at], rates, is_replaced(path, at)));
    steps.back().at = at;
    steps.back().again = at < rereads.size() && rereads[at];
  }
  return steps;
}

} // namespace kg::sass
