// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/analysis.h"

#include "perf/code/sass/flow.h"
#include "perf/code/sass/registers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

namespace kg::sass {
namespace {

// "$__internal_0_$__cuda_sm20_div_s64" -> "__cuda_sm20_div_s64".
std::string name_of(std::string_view callee) {
  if (callee.empty()) return "a function that a register points to";
  if (callee.starts_with('$')) callee.remove_prefix(callee.rfind('$') + 1);
  return std::string(callee);
}

// The start of nvcc's integer division: I2F.U32.RP (rounding up) before MUFU.RCP.
bool begins_integer_division(const Instruction& one) {
  return one.opcode == "I2F" && one.has("RP");
}

void add(Accesses& accesses, const Instruction& one) {
  const int bytes = bytes_moved(one);
  if (is_load(one)) {
    accesses.loaded += bytes;
    ++accesses.loads[bytes];
  } else {
    accesses.stored += bytes;
    ++accesses.stores[bytes];
  }
}

std::string shape_of(const Instruction& product) {
  std::string shape = product.opcode;
  for (const std::string& modifier : product.modifiers) shape += "." + modifier;
  return shape;
}

// USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8, or .DEALLOC.CTAPOOL 0x28.
void add_registers(Analysis& analysis, const Instruction& one) {
  if (one.opcode != "USETMAXREG" || one.operands.empty()) return;
  const int count = static_cast<int>(std::strtol(one.operands.back().c_str(), nullptr, 0));
  int& known = one.has("DEALLOC") ? analysis.least_registers : analysis.most_registers;
  known = std::max(known, count);
}

void add(Part& part, const Instruction& one, const Rates& rates) {
  const auto pipe = static_cast<std::size_t>(pipe_of(one));
  part.instructions += 1 + static_cast<int>(one.called);
  ++part.by_pipe[pipe];
  part.clocks[pipe] += clocks_of(one, rates);
  part.predicated += !one.guard.empty();
  part.matrix += pipe_of(one) == Pipe::tensor;
  part.operations += matrix_operations(one);
  part.matrix_clocks += matrix_clocks(one, rates);
  if (const auto product = product_of(one)) {
    ++part.products[shape_of(one)];
    part.product_groups += product->closes_group;
  }
  if (begins_integer_division(one)) {
    ++part.integer_divisions;
    ++part.division_lines[one.line];
  }
  ++part.lines[one.line];
  if (is_conversion(one)) {
    ++part.conversions;
    ++part.conversion_lines[one.line];
  }
  switch (space_of(one)) {
  case Space::global:
  case Space::generic: return add(part.global, one);
  case Space::shared: return add(part.shared, one);
  case Space::local: return add(part.local, one);
  case Space::none:
  case Space::constant: return;
  }
}

// All calls of a region, on and off its main path.
std::vector<Call> calls_of(const Function& function, const Flow& flow, const Region& region,
                           const std::set<std::size_t>& on_path) {
  std::vector<Call> calls;
  for (const std::size_t block : region.blocks)
    for (std::size_t at = flow.blocks[block].begin; at < flow.blocks[block].end; ++at) {
      const Instruction& one = function.code[at];
      if (one.opcode != "CALL") continue;
      Call call{one.line, one.kernel_line, name_of(callee_of(one)), false, on_path.count(at) != 0};
      call.slow_path = call.callee.find("slowpath") != std::string::npos;
      calls.push_back(std::move(call));
    }
  return calls;
}

// The lines of MEMBAR.SC.GPU and similar fences, which wait until every multiprocessor sees the
// thread's writes.
std::map<std::string, int> fences_of(const Function& function, const Flow& flow,
                                     const Region& region) {
  std::map<std::string, int> fences;
  for (const std::size_t block : region.blocks)
    for (std::size_t at = flow.blocks[block].begin; at < flow.blocks[block].end; ++at) {
      const Instruction& one = function.code[at];
      if (one.opcode == "MEMBAR" && (one.has("GPU") || one.has("SYS"))) ++fences[one.line];
    }
  return fences;
}

// Trip counts are unknown. As compilers do, assumes eight iterations per loop level.
constexpr double kPasses = 8;

double weight_of(const Function& function, const Flow& flow, const Region& region,
                 const std::vector<std::size_t>& path) {
  std::set<std::size_t> nested; // blocks of nested loops
  for (const Region& other : flow.regions)
    if (other.depth > region.depth &&
        std::binary_search(region.blocks.begin(), region.blocks.end(), other.entry))
      nested.insert(other.blocks.begin(), other.blocks.end());
  std::set<std::size_t> skipped;
  for (const std::size_t block : nested)
    for (std::size_t at = flow.blocks[block].begin; at < flow.blocks[block].end; ++at)
      skipped.insert(at);
  int widest = 1; // of the kernel: narrower accesses often belong to a row's remainder
  for (const Instruction& one : function.code)
    if (space_of(one) == Space::global) widest = std::max(widest, bytes_moved(one));
  constexpr double kMatrix = 64, kMultiplied = 0.25, kShared = 0.01, kInstruction = 1e-3;
  double weight = 0;
  for (const std::size_t at : path) {
    if (skipped.count(at) != 0) continue;
    const Instruction& one = function.code[at];
    const Space space = space_of(one);
    const double bytes = bytes_moved(one), share = bytes / widest;
    if (space == Space::global || space == Space::generic) weight += bytes * share * share;
    if (space == Space::shared) weight += kShared * bytes;
    if (pipe_of(one) == Pipe::tensor) weight += kMatrix;
    if (one.opcode == "FFMA" || one.opcode == "HFMA2") weight += kMultiplied;
    weight += kInstruction;
  }
  return weight * std::pow(kPasses, region.depth);
}

// The part with the largest weight. nvcc also unrolls the remainder loop of a row, which may then
// move more per iteration than the loop with many loads in flight. Among parts of similar weight,
// selects the one with most bytes in flight.
std::size_t main_of(const std::vector<Part>& parts) {
  constexpr double kAboutAsHeavy = 0.25; // nvcc unrolls four times
  const auto most = std::max_element(
      parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.weight < b.weight; });
  auto main = most;
  for (auto at = parts.begin(); at != parts.end(); ++at)
    if (at->depth == most->depth && at->innermost && most->innermost &&
        at->weight >= kAboutAsHeavy * most->weight &&
        at->flight.bytes_in_flight() > main->flight.bytes_in_flight())
      main = at;
  return static_cast<std::size_t>(main - parts.begin());
}

Part part_of(const Function& function, const Flow& flow, const Region& region, const Rates& rates) {
  Part part;
  const std::vector<std::size_t> path = main_path(function, flow, region);
  for (const std::size_t at : path) add(part, function.code[at], rates);
  if (!path.empty()) part.line = function.code[path.front()].kernel_line;
  part.depth = region.depth;
  part.innermost = region.innermost;
  part.overlap = overlap_of(function.code, path, region.depth > 0);
  part.flight = flight_of(function.code, path, region.depth > 0);
  part.calls = calls_of(function, flow, region, {path.begin(), path.end()});
  part.fences = fences_of(function, flow, region);
  part.weight = weight_of(function, flow, region, path);
  return part;
}

} // namespace

std::pair<Pipe, double> Part::busiest() const {
  const auto most = std::max_element(clocks.begin(), clocks.end());
  return {static_cast<Pipe>(most - clocks.begin()), std::max<double>(*most, instructions)};
}

bool Part::is_issue_bound() const {
  return *std::max_element(clocks.begin(), clocks.end()) <= instructions;
}

std::vector<Analysis> analyse(const std::vector<Function>& functions, const Rates& rates) {
  std::vector<Analysis> analyses;
  for (const Function& function : functions) {
    if (function.symbol == function.kernel) {
      Analysis made{function.symbol, {}, 0, {}, {}};
      if (function.code.empty()) continue;
      for (const Instruction& one : function.code) add_registers(made, one);
      const Flow flow = flow_of(function);
      for (const Region& region : flow.regions)
        made.parts.push_back(part_of(function, flow, region, rates));
      made.main = main_of(made.parts);
      for (const std::size_t at : main_path(function, flow, flow.regions[made.main]))
        made.pass.push_back(function.code[at]);
      analyses.push_back(std::move(made));
    }
    for (const Instruction& one : function.code)
      if (pipe_of(one) == Pipe::unknown && !analyses.empty()) ++analyses.back().unknown[one.opcode];
  }
  return analyses;
}

} // namespace kg::sass
