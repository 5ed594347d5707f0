// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace kg::sass {
namespace {

constexpr double kWarp = 32, kKib = 1024;
constexpr std::size_t kMostLines = 6;

double issue_slots(const Part& part) {
  if (part.matrix > 0) return static_cast<double>(part.instructions) / part.matrix;
  const double moved = kWarp * (part.global.loaded + part.global.stored);
  return moved > 0 ? part.instructions * kKib / moved : part.instructions;
}

// "row.h:25 64, softmax.cu:43 12": the lines with the largest counts.
std::string lines_of(const std::map<std::string, int>& lines) {
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [line, count] : lines) sorted.emplace_back(count, line);
  std::sort(sorted.rbegin(), sorted.rend());
  sorted.resize(std::min(sorted.size(), kMostLines));
  std::vector<std::string> texts;
  for (const auto& [count, line] : sorted) texts.push_back(fmt::format("{} {}", line, count));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string issue_hint(const Part& part) {
  std::string text = fmt::format("{} instructions in a pass of {}: most at {}", part.instructions,
                                 part.line, lines_of(part.lines));
  if (part.conversions > 0)
    text += fmt::format("; {} conversions, most at {}", part.conversions,
                        lines_of(part.conversion_lines));
  return text;
}

std::string flight_hint(const Part& part) {
  std::map<std::string, int> trips;
  for (const Wait& wait : part.flight.waits)
    if (wait.round_trip) ++trips[wait.line];
  return fmt::format("{:.3g} round trips for {} bytes of a thread in a pass of {}: loads at {}",
                     part.flight.round_trips, part.flight.bytes, part.line, lines_of(trips));
}

// All calls of a kernel, with their positions.
struct Calls {
  int count = 0;
  std::set<std::string> places; // "divide.cu:12 (__cuda_sm20_div_s64)"

  void add(const Call& call) {
    ++count;
    places.insert(fmt::format("{} ({})", call.line, call.callee));
  }
  std::string hint(const char* what) const {
    return fmt::format("{}: {}", what, fmt::join(places, ", "));
  }
};

void set(judge::ExactMeasured& row, const std::string& name, double value, std::string hint) {
  const auto& quantities = judge::resource_table().quantities;
  const auto at = std::find_if(quantities.begin(), quantities.end(),
                               [&](const judge::Quantity& one) { return one.name == name; });
  row.row.values.at(static_cast<std::size_t>(at - quantities.begin())) = value;
  if (!hint.empty()) row.hints[name] = std::move(hint);
}

} // namespace

void fill_columns(judge::ExactMeasured& row, const Kernel& kernel) {
  const Analysis& analysis = kernel.analysis;
  const Part& part = analysis.main_part();
  Calls calls, divisions, in_loops;
  for (const Part& one : analysis.parts) {
    if (one.depth > 1) continue; // the enclosing loop includes its calls
    for (const Call& call : one.calls) {
      if (one.depth == 1)
        in_loops.add(call);
      else
        (call.slow_path ? divisions : calls).add(call);
    }
  }
  set(row, "bytes_in_flight", part.flight.bytes_in_flight(), flight_hint(part));
  set(row, "issue_slots", issue_slots(part), issue_hint(part));
  set(row, "calls", calls.count, calls.hint("library functions"));
  set(row, "divisions", divisions.count, divisions.hint("IEEE divisions and roots"));
  set(row, "loop_calls", in_loops.count, in_loops.hint("in loops"));
  if (row.fault.empty() && part.depth > 0 && !part.fences.empty())
    row.fault =
        fmt::format("its main loop has a fence of the whole GPU (MEMBAR at {}): each pass "
                    "waits for all stores of the thread; move the fence out of the loop, or "
                    "signal by st.async or an mbarrier",
                    lines_of(part.fences));
  if (!row.fault.empty() || analysis.unknown.empty()) return;
  const auto& [opcode, count] = *analysis.unknown.begin();
  row.fault =
      fmt::format("its machine code holds {} {} times, an opcode that perf/code/sass/pipes.cpp "
                  "lacks; add it there",
                  opcode, count);
}

void fill_columns(std::vector<judge::ExactMeasured>& rows, const std::filesystem::path& folder,
                  std::string_view arch, const std::string& op, const resources::Launches& launches,
                  const std::filesystem::path& nvdisasm) {
  for (const Kernel& kernel : kernels_in(folder, arch, op, launches, nvdisasm))
    for (judge::ExactMeasured& row : rows)
      if (row.row.key.front() == kernel.key) fill_columns(row, kernel);
}

} // namespace kg::sass
