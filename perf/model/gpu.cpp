// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/model/gpu.h"

#include "perf/judge/atomic_file.h"
#include "perf/judge/json_reader.h"
#include "runtime/error.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace kg::model {
namespace {

constexpr int kSchema = 1;

Gpu gpu_of(judge::JsonObject json) {
  Gpu gpu;
  gpu.name = json.text("name");
  gpu.compute_capability = json.text("compute_capability");
  gpu.sms = json.positive("sms");
  gpu.clock_hz = 1e6 * json.positive("clock_mhz");
  gpu.memory_bytes_per_s = 1e9 * json.positive("memory_gb_per_s");
  gpu.l2_bytes_per_s = gpu.clock_hz * json.positive("l2_bytes_per_clock");
  gpu.latency_s = json.positive("latency_clocks") / gpu.clock_hz;
  gpu.launch_s = 1e-9 * json.positive("launch_ns");
  gpu.f32_flops_per_s = gpu.clock_hz * json.positive("f32_flops_per_clock_per_sm");
  for (const auto& [type, flops] : json.positive_map("matrix_flops_per_clock_per_sm"))
    gpu.matrix_flops_per_s[type] = gpu.clock_hz * flops;
  gpu.source = json.text("source");
  json.done();
  return gpu;
}

} // namespace

std::vector<Gpu> load_gpus(const std::filesystem::path& path) {
  const std::optional<std::string> contents = judge::read_file(path);
  if (!contents) fail(path.string() + ": there is no such file; it lists the GPUs of the model");
  const nlohmann::json json = judge::parse_json(*contents, path.string());
  judge::JsonObject object(json, path.string());
  object.version(kSchema);
  object.texts("assumptions");
  std::vector<Gpu> gpus;
  object.each("gpus", [&](judge::JsonObject gpu) { gpus.push_back(gpu_of(gpu)); });
  object.done();
  return gpus;
}

} // namespace kg::model
