// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/device_file.h"

#include "perf/format/json_reader.h"
#include "perf/format/sinks.h"
#include "perf/judge/row.h"
#include "runtime/atomic_file.h"

#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kg::judge {

std::optional<DeviceFile> load_device(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) return std::nullopt;
  const nlohmann::json json = parse_json(*contents, path.string());
  JsonObject object(json, path.string());
  object.version(kDeviceSchema);
  DeviceFile device;
  device.fingerprint = object.texts("fingerprint");
  device.canaries_ns = object.positive_map("canaries_ns");
  for (const auto& [kind, time] : device.canaries_ns)
    if (!canary_named(kind))
      object.object("canaries_ns").fail(kind, "is unknown", "use memory, compute, sync or launch");
  device.ceilings = object.positive_map("ceilings");
  device.calibration = object.number_map("calibration");
  if (object.has("not_blessed")) device.not_blessed = object.words("not_blessed");
  object.done();
  return device;
}

std::string difference(const DeviceFile& blessed, const std::map<std::string, std::string>& here) {
  std::string first;
  std::size_t more = 0;
  for (const auto& [key, value] : blessed.fingerprint) {
    const auto at = here.find(key);
    if (at != here.end() && at->second == value) continue;
    if (first.empty())
      first = fmt::format("{}: '{}' blessed, '{}' here", key, value,
                          at == here.end() ? "unknown" : at->second);
    else
      ++more;
  }
  return more == 0 ? first : fmt::format("{}, and {} more", first, more);
}

std::map<std::string, double> ceilings_of(const DeviceFile& device) {
  std::map<std::string, double> ceilings = device.ceilings;
  const auto cache = device.fingerprint.find("l2_bytes");
  if (cache != device.fingerprint.end())
    ceilings["l2_bytes"] = std::strtod(cache->second.c_str(), nullptr);
  return ceilings;
}

void save_device(const std::filesystem::path& path, const DeviceFile& device) {
  const nlohmann::json json = {
      {"schema", kDeviceSchema},           {"fingerprint", device.fingerprint},
      {"canaries_ns", device.canaries_ns}, {"ceilings", device.ceilings},
      {"calibration", device.calibration}, {"not_blessed", device.not_blessed}};
  write_file(path, for_json(json, 2) + "\n");
}

} // namespace kg::judge
