// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/timing_model/gpu.h"

#include "perf/format/json_reader.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace kg::model {
namespace {

constexpr int kSchema = 3;

Gpu gpu_of(judge::JsonObject json) {
  Gpu gpu;
  gpu.name = json.text("name");
  gpu.compute_capability = json.text("compute_capability");
  gpu.sms = json.positive("sms");
  gpu.clock_hz = 1e6 * json.positive("clock_mhz");
  gpu.copy_bytes_per_s = 1e9 * json.positive("copy_gb_per_s");
  gpu.l2_bytes_per_s = gpu.clock_hz * json.positive("l2_bytes_per_clock");
  gpu.port_bytes_per_s = gpu.clock_hz * json.positive("port_bytes_per_clock");
  gpu.latency_s = json.positive("latency_clocks") / gpu.clock_hz;
  gpu.l2_latency_s = json.positive("l2_latency_clocks") / gpu.clock_hz;
  gpu.l1_latency_s = json.positive("l1_latency_clocks") / gpu.clock_hz;
  for (const auto& [bytes, rate] : json.positive_map("loads_gb_per_s")) {
    char* end = nullptr;
    const double under_way = std::strtod(bytes.c_str(), &end);
    if (*end != '\0' || !(under_way > 0))
      json.fail("loads_gb_per_s", "has a name that is not a number of bytes",
                "write \"4096\": 935");
    gpu.loads[under_way] = 1e9 * rate;
  }
  gpu.launch_s = 1e-9 * json.positive("launch_ns");
  gpu.lsu_lanes = json.positive("lsu_lanes_per_clock_per_sm");
  gpu.f32_flops_per_s = gpu.clock_hz * json.positive("f32_flops_per_clock_per_sm");
  gpu.f16_flops_per_s = gpu.clock_hz * json.positive("f16_flops_per_clock_per_sm");
  gpu.f64_flops_per_s = gpu.clock_hz * json.positive("f64_flops_per_clock_per_sm");
  for (const auto& [type, flops] : json.positive_map("matrix_flops_per_clock_per_sm"))
    gpu.matrix_flops_per_s[type] = gpu.clock_hz * flops;
  gpu.mma_share = json.positive("mma_share");
  gpu.source = json.text("source");
  json.done();
  return gpu;
}

} // namespace

double Gpu::loads_at(double bytes_under_way) const {
  double rate = 0;
  if (loads.empty()) {
    rate = bytes_under_way * sms / latency_s;
  } else {
    std::pair<double, double> before(0, 0);
    auto at = loads.begin();
    for (; std::next(at) != loads.end() && at->first < bytes_under_way; ++at) before = *at;
    rate = before.second + (bytes_under_way - before.first) * (at->second - before.second) /
                               (at->first - before.first);
  }
  return std::min(rate, copy_bytes_per_s);
}

double Gpu::bytes_for_a_copy() const {
  if (loads.empty()) return copy_bytes_per_s * latency_s / sms;
  const auto last = loads.rbegin();
  const auto before = std::next(last);
  const auto [x0, y0] = before == loads.rend() ? std::pair<const double, double>(0, 0) : *before;
  return x0 + (copy_bytes_per_s - y0) * (last->first - x0) / (last->second - y0);
}

std::string arch_of(const Gpu& gpu) {
  std::string digits = gpu.compute_capability;
  std::erase(digits, '.');
  return "sm_" + digits;
}

std::vector<Gpu> load_gpus(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) fail(path.string() + ": no such file; it lists the GPUs of the model");
  const nlohmann::json json = judge::parse_json(*contents, path.string());
  judge::JsonObject object(json, path.string());
  object.version(kSchema);
  object.texts("assumptions");
  std::vector<Gpu> gpus;
  object.each("gpus", [&](judge::JsonObject gpu) { gpus.push_back(gpu_of(gpu)); });
  object.done();
  return gpus;
}

Gpu part_of(Gpu gpu, double sms) {
  const double share = sms / gpu.sms;
  gpu.sms = sms;
  gpu.copy_bytes_per_s *= share;
  gpu.l2_bytes_per_s *= share;
  for (auto& [bytes, rate] : gpu.loads) rate *= share;
  return gpu;
}

} // namespace kg::model
