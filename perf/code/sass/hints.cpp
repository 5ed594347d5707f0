// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/hints.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace kg::sass {
namespace {

// A line is named from this share of an iteration's instructions.
constexpr double kManyConversions = 0.15, kManyInstructions = 0.1;
constexpr std::size_t kLinesNamed = 3;

std::string place(const std::string& line, const std::string& kernel_line) {
  return line == kernel_line || kernel_line.empty() ? line
                                                    : fmt::format("{} ({})", line, kernel_line);
}

std::string several(int count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

bool takes_words_apart(const std::string& opcode) {
  const std::set<std::string_view> opcodes = {"PRMT", "HADD2", "F2F", "SHF", "LOP3", "IMAD"};
  return opcodes.count(opcode) != 0;
}

// Dependent loads of one line.
void add_serial_loads(std::vector<Hint>& hints, const Part& part) {
  struct Sum {
    int loads = 0, trips = 0, width = 0;
    std::string used_at, used_by;
  };
  std::map<std::pair<std::string, std::string>, Sum> lines;
  for (const Wait& wait : part.flight.waits) {
    Sum& sum = lines[{wait.line, wait.kernel_line}];
    sum.loads += wait.loads;
    sum.trips += wait.round_trip;
    sum.width = std::max(sum.width, wait.width);
    if (wait.round_trip && sum.used_at.empty()) {
      sum.used_at = wait.used_at;
      sum.used_by = wait.used_by;
    }
  }
  for (const auto& [where, sum] : lines) {
    if (sum.trips < 2) continue;
    constexpr int kPack = 8; // bytes: narrower loads are of one element
    const bool converts = sum.width >= kPack && takes_words_apart(sum.used_by);
    hints.push_back(
        {"serial loads", where.first,
         fmt::format("{}: {} of {} are dependent: {} use one another, as {} uses the first "
                     "({}) before the next is issued; load all raw words first{}",
                     place(where.first, where.second), several(sum.loads, "load"),
                     several(sum.width, "byte"), several(sum.trips, "round trip"), sum.used_at,
                     sum.used_by,
                     converts ? " and convert them behind the branch that guards the load" : "")});
  }
}

void add_few_loads(std::vector<Hint>& hints, const Kernel& kernel, const LimitShare& limit_share,
                   const model::Gpu* gpu) {
  const Part& part = kernel.analysis.main_part();
  if (gpu == nullptr || limit_share.limiter != "loads in flight" || part.flight.waits.empty())
    return;
  const auto first = std::find_if(part.flight.waits.begin(), part.flight.waits.end(),
                                  [](const Wait& wait) { return wait.round_trip; });
  if (first == part.flight.waits.end()) return;
  hints.push_back(
      {"few loads", first->line,
       fmt::format(
           "{}: {:.0f} bytes of a thread are in flight, {:.1f} KiB of the {} warps of a "
           "multiprocessor; copy bandwidth takes {:.0f}: load more before the first use, or "
           "let more warps be resident ({} registers, {} bytes of shared memory a block)",
           place(first->line, first->kernel_line), part.flight.bytes_in_flight(),
           limit_share.bytes_in_flight / 1024, kernel.warps, gpu->bytes_for_a_copy() / 1024,
           kernel.registers, kernel.shared_bytes)});
}

std::string_view operation_of(std::string_view callee) {
  if (callee.find("div") != callee.npos) return "division";
  if (callee.find("rcp") != callee.npos) return "reciprocal";
  if (callee.find("rsqrt") != callee.npos) return "reciprocal square root";
  return "square root";
}

void add_calls(std::vector<Hint>& hints, const Analysis& analysis) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Part& part : analysis.parts)
    for (const Call& call : part.calls) {
      const bool in_loop = part.depth > 0;
      if (call.slow_path && !in_loop) continue; // its loop reports it, or it runs once
      if (!seen.emplace(call.line, call.callee).second) continue;
      const std::string where = place(call.line, call.kernel_line);
      if (call.slow_path)
        hints.push_back(
            {"division", call.line,
             fmt::format("{}: an IEEE {} with a slow path in a loop ({}): multiply by a "
                         "reciprocal made once, or use an approximation",
                         where, operation_of(call.callee), call.callee)});
      else
        hints.push_back(
            {"library call", call.line,
             fmt::format("{}: calls {}{}: 32-bit numbers, or a Divisor made on the host", where,
                         call.callee,
                         call.on_main_path ? "" : " where a number has more than 32 bits")});
    }
}

void add_integer_divisions(std::vector<Hint>& hints, const Part& part) {
  for (const auto& [line, count] : part.division_lines)
    hints.push_back({"integer division", line,
                     fmt::format("{}: {} of integers by way of a reciprocal, about 20 instructions "
                                 "each: use a Divisor made on the host, or carry the coordinates",
                                 line, several(count, "division"))});
}

std::vector<std::pair<int, std::string>> most(const std::map<std::string, int>& lines) {
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [line, count] : lines) sorted.emplace_back(count, line);
  std::sort(sorted.rbegin(), sorted.rend());
  return sorted;
}

void add_instructions(std::vector<Hint>& hints, const Part& part, const LimitShare& limit_share) {
  const auto [pipe, busiest] = part.busiest();
  if (limit_share.of.empty() || busiest <= limit_share.budget) return;
  std::string lines;
  std::string first;
  std::size_t named = 0;
  for (const auto& [count, line] : most(part.lines)) {
    if (named == kLinesNamed || count < kManyInstructions * part.instructions) break;
    lines += fmt::format("{}{} {}", named == 0 ? "" : ", ", line, count);
    if (named++ == 0) first = line;
  }
  const std::string what =
      part.is_issue_bound() ? fmt::format("{} instructions a pass", part.instructions)
                            : fmt::format("{:.0f} clocks of pipe {} a pass", busiest, name(pipe));
  hints.push_back(
      {"instructions", first,
       fmt::format("{}: {}, where {:.0f} clocks are {}: most instructions at {}", part.line, what,
                   limit_share.budget,
                   limit_share.of == "copy" ? "the time of a copy of its bytes"
                   : part.matrix > 0 ? "that of " + several(part.matrix, "matrix instruction")
                                     : "that of its arithmetic",
                   lines.empty() ? "no line" : lines)});
}

// ptxas may move the wait for wgmma before code that was to overlap with it.
void add_special(std::vector<Hint>& hints, const Part& part) {
  constexpr int kFew = 8;
  const Overlap& overlap = part.overlap;
  if (part.products.empty() || overlap.special < kFew ||
      2 * overlap.beside_products >= overlap.special)
    return;
  hints.push_back({"special functions", part.line,
                   fmt::format("{}: {} of {} special functions run beside wgmma: issue the next "
                               "product first, and put the wait for an mbarrier between them and "
                               "wgmma.wait_group, which ptxas moves in front of them",
                               part.line, overlap.beside_products, overlap.special)});
}

void add_conversions(std::vector<Hint>& hints, const Part& part) {
  if (part.conversions < kManyConversions * part.instructions) return;
  const auto sorted = most(part.conversion_lines);
  hints.push_back({"conversions", sorted.front().second,
                   fmt::format("{}: {} of {} instructions convert between types",
                               sorted.front().second, part.conversions, part.instructions)});
}

void add_local(std::vector<Hint>& hints, const Part& part) {
  const int bytes = part.local.loaded + part.local.stored;
  if (bytes == 0) return;
  hints.push_back(
      {"local memory", part.line,
       fmt::format("{}: {} bytes of local memory a pass: spilled registers, or an array "
                   "indexed at run time",
                   part.line, bytes)});
}

} // namespace

std::vector<Hint> hints_of(const Kernel& kernel, const LimitShare& limit_share,
                           const model::Gpu* gpu) {
  const Part& part = kernel.analysis.main_part();
  std::vector<Hint> hints;
  add_serial_loads(hints, part);
  add_few_loads(hints, kernel, limit_share, gpu);
  add_instructions(hints, part, limit_share);
  add_special(hints, part);
  add_calls(hints, kernel.analysis);
  add_integer_divisions(hints, part);
  add_local(hints, part);
  add_conversions(hints, part);
  return hints;
}

} // namespace kg::sass
