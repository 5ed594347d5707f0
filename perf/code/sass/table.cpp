// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/table.h"

#include "perf/format/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace kg::sass {
namespace {

using Json = nlohmann::json;

// "4x16+1x2": number of loads by width in bytes.
std::string widths(const std::map<int, int>& accesses) {
  std::string text;
  for (auto at = accesses.rbegin(); at != accesses.rend(); ++at)
    text += fmt::format("{}{}x{}", text.empty() ? "" : "+", at->second, at->first);
  return text.empty() ? "-" : text;
}

std::string calls_of(const Analysis& analysis) {
  std::size_t slow = 0, library = 0;
  for (const Call& call : analysis.parts.front().calls) ++(call.slow_path ? slow : library);
  return fmt::format("{}/{}", library, slow);
}

std::vector<std::string> cells(const Judged& one) {
  const Part& part = one.kernel.analysis.main_part();
  const auto [pipe, busiest] = part.busiest();
  return {one.kernel.key,
          part.depth == 0 ? "-" : part.line,
          one.limit_share.of.empty()
              ? "-"
              : fmt::format("{:.0f} % {}", one.limit_share.share_pct, one.limit_share.of),
          one.limit_share.limiter,
          one.pace.clocks > 0 ? fmt::format("{:.0f} %", one.pace.share_pct) : "-",
          std::to_string(part.instructions),
          part.is_issue_bound() ? "issue" : fmt::format("{} {:.0f}", name(pipe), busiest),
          widths(part.global.loads),
          widths(part.global.stores),
          fmt::format("{:g}", part.flight.round_trips),
          fmt::format("{:.0f} B", part.flight.bytes_in_flight()),
          fmt::format("{:.1f} KiB", one.limit_share.bytes_in_flight / 1024),
          std::to_string(part.conversions),
          calls_of(one.kernel.analysis),
          std::to_string(part.integer_divisions)};
}

// The lines with most idle cycles.
std::string idle_text(const Judged& one) {
  constexpr std::size_t kLinesShown = 4;
  constexpr double kWorthALine = 2; // percent
  std::string text;
  for (std::size_t i = 0; i < std::min(kLinesShown, one.pace.idle.size()); ++i) {
    const Idle& idle = one.pace.idle[i];
    if (idle.share_pct < kWorthALine) break;
    text += fmt::format("{} {:.0f} % at {} ({}) {}", i == 0 ? "" : ",", idle.share_pct, idle.line,
                        idle.opcode, idle.waits);
    if (idle.from_line != idle.line || idle.from_opcode != idle.opcode)
      text += fmt::format(" of {} ({})", idle.from_line, idle.from_opcode);
  }
  return text.empty()
             ? ""
             : fmt::format("\nidle {:.0f} % of {}:{}\n", one.pace.idle_pct, one.kernel.key, text);
}

// wgmma instructions per iteration of the main part.
std::string products_text(const Judged& one) {
  constexpr int kWarpgroup = 4;
  const Part& part = one.kernel.analysis.main_part();
  if (part.products.empty()) return "";
  std::string shapes;
  for (const auto& [shape, count] : part.products)
    shapes += fmt::format("{}{} {}", shapes.empty() ? "" : ", ", count, shape);
  std::string text = fmt::format(
      "\nwgmma of {}: {} a pass, in groups: {}; {:.0f} flops of a warpgroup in {:.0f} cycles at "
      "peak; the bytes of bulk copies are not modelled",
      one.kernel.key, shapes, part.product_groups, kWarpgroup * part.operations,
      part.matrix_clocks);
  if (part.overlap.special > 0)
    text += fmt::format("; {} of {} special functions run beside them",
                        part.overlap.beside_products, part.overlap.special);
  return text + "\n";
}

Json pace_json(const Pace& pace) {
  Json idle = Json::array();
  for (const Idle& one : pace.idle)
    idle.push_back({{"line", one.line},
                    {"kernel_line", one.kernel_line},
                    {"opcode", one.opcode},
                    {"waits_for", one.waits},
                    {"from_line", one.from_line},
                    {"from_opcode", one.from_opcode},
                    {"share_pct", one.share_pct}});
  return {{"clocks", pace.clocks},
          {"share_pct", pace.share_pct},
          {"idle_pct", pace.idle_pct},
          {"load_latency", pace.latency},
          {"idle", idle}};
}

Json accesses_json(const Accesses& accesses) {
  Json loads = Json::object(), stores = Json::object();
  for (const auto& [width, count] : accesses.loads) loads[std::to_string(width)] = count;
  for (const auto& [width, count] : accesses.stores) stores[std::to_string(width)] = count;
  return {{"bytes_loaded", accesses.loaded},
          {"bytes_stored", accesses.stored},
          {"loads_by_width", loads},
          {"stores_by_width", stores}};
}

Json part_json(const Part& part) {
  Json pipes = Json::object(), waits = Json::array(), calls = Json::array();
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    const auto at = static_cast<std::size_t>(pipe);
    if (part.by_pipe[at] > 0)
      pipes[std::string(name(static_cast<Pipe>(pipe)))] = {{"instructions", part.by_pipe[at]},
                                                           {"clocks", part.clocks[at]}};
  }
  for (const Wait& wait : part.flight.waits)
    waits.push_back({{"line", wait.line},
                     {"kernel_line", wait.kernel_line},
                     {"loads", wait.loads},
                     {"bytes", wait.bytes},
                     {"round_trip", wait.round_trip},
                     {"used_at", wait.used_at},
                     {"used_by", wait.used_by}});
  for (const Call& call : part.calls)
    calls.push_back({{"line", call.line},
                     {"kernel_line", call.kernel_line},
                     {"callee", call.callee},
                     {"slow_path", call.slow_path},
                     {"on_main_path", call.on_main_path}});
  Json json = {{"line", part.line},
               {"depth", part.depth},
               {"innermost", part.innermost},
               {"instructions", part.instructions},
               {"pipes", pipes},
               {"predicated", part.predicated},
               {"conversions", part.conversions},
               {"integer_divisions", part.integer_divisions},
               {"matrix_instructions", part.matrix},
               {"global", accesses_json(part.global)},
               {"shared", accesses_json(part.shared)},
               {"local", accesses_json(part.local)},
               {"loads", part.flight.loads},
               {"round_trips", part.flight.round_trips},
               {"bytes_in_flight", part.flight.bytes_in_flight()},
               {"most_bytes_in_flight", part.flight.most_bytes},
               {"waits", waits},
               {"calls", calls}};
  if (!part.products.empty())
    json["wgmma"] = {{"instructions", part.products},
                     {"groups", part.product_groups},
                     {"flops_per_warp", part.operations},
                     {"clocks", part.matrix_clocks},
                     {"special_functions", part.overlap.special},
                     {"special_functions_beside", part.overlap.beside_products}};
  return json;
}

} // namespace

std::vector<Judged> judged(std::vector<Kernel> kernels, const model::Gpu* gpu) {
  std::vector<Judged> found;
  for (Kernel& kernel : kernels) {
    Judged one{std::move(kernel), {}, {}, {}};
    one.limit_share = limit_share_of(one.kernel, gpu);
    if (gpu != nullptr) one.pace = pace_of(one.kernel, one.limit_share, *gpu);
    one.hints = hints_of(one.kernel, one.limit_share, gpu);
    found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(), [](const Judged& a, const Judged& b) {
    if (a.limit_share.of.empty() != b.limit_share.of.empty()) return b.limit_share.of.empty();
    return a.limit_share.share_pct < b.limit_share.share_pct;
  });
  return found;
}

std::string plain_text(const std::vector<Judged>& kernels) {
  judge::TextTable table({"kernel", "loop", "at most", "limited by", "expected", "instructions",
                          "busiest", "loads", "stores", "round trips", "under way", "per SM",
                          "conversions", "calls/slow paths", "divisions"});
  // Equal hints for several types are merged.
  std::vector<std::pair<const Hint*, std::vector<std::string>>> hints;
  for (const Judged& one : kernels) {
    table.add(cells(one));
    for (const Hint& hint : one.hints) {
      auto at = std::find_if(hints.begin(), hints.end(),
                             [&](const auto& other) { return other.first->text == hint.text; });
      if (at == hints.end()) at = hints.insert(at, {&hint, {}});
      at->second.push_back(one.kernel.key);
    }
  }
  std::string text = table.plain();
  for (const Judged& one : kernels) text += products_text(one);
  for (const Judged& one : kernels) text += idle_text(one);
  for (const auto& [hint, where] : hints)
    text += fmt::format("\n{}: {}\n  in {}{}\n", hint->kind, hint->text, where.front(),
                        where.size() == 1 ? "" : fmt::format(" and {} more", where.size() - 1));
  return text;
}

nlohmann::json json(const std::vector<Judged>& kernels) {
  nlohmann::json all = nlohmann::json::array();
  for (const Judged& one : kernels) {
    const Kernel& kernel = one.kernel;
    nlohmann::json parts = nlohmann::json::array(), hints = nlohmann::json::array();
    for (const Part& part : kernel.analysis.parts) parts.push_back(part_json(part));
    for (const Hint& hint : one.hints)
      hints.push_back({{"kind", hint.kind}, {"line", hint.line}, {"text", hint.text}});
    all.push_back({{"kernel", kernel.key},
                   {"symbol", kernel.analysis.symbol},
                   {"registers", kernel.registers},
                   {"threads", kernel.threads},
                   {"shared_bytes", kernel.shared_bytes},
                   {"resident_warps", kernel.warps},
                   {"unknown_opcodes", kernel.analysis.unknown},
                   {"bytes_in_flight_per_sm", one.limit_share.bytes_in_flight},
                   {"share_pct", one.limit_share.share_pct},
                   {"share_of", one.limit_share.of},
                   {"limiter", one.limit_share.limiter},
                   {"expected", pace_json(one.pace)},
                   {"main", kernel.analysis.main},
                   {"parts", parts},
                   {"hints", hints}});
  }
  return all;
}

} // namespace kg::sass
