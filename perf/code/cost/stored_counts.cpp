// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/stored_counts.h"

#include "perf/format/json_reader.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kg::cost {
namespace {

constexpr int kSchema = 3;

template <class Enum>
std::optional<Enum> word(const std::string& text,
                         std::initializer_list<std::pair<std::string_view, Enum>> known) {
  for (const auto& [name, value] : known)
    if (text == name) return value;
  return std::nullopt;
}

std::array<unsigned, 3> extents(judge::JsonObject& json, const std::string& member) {
  const std::vector<double> given = json.positives(member);
  if (given.size() != 3)
    json.fail(member, fmt::format("has {} extents", given.size()), "write [x, y, z]");
  return {static_cast<unsigned>(given[0]), static_cast<unsigned>(given[1]),
          static_cast<unsigned>(given[2])};
}

count::Site site_of(judge::JsonObject json) {
  using count::Access, count::Memory;
  count::Site site;
  site.line = json.text("line");
  site.memory = json.known(
      "memory",
      word<Memory>(json.text("memory"), {{"global", Memory::global}, {"shared", Memory::shared}}),
      "global or shared");
  site.access = json.known(
      "access",
      word<Access>(json.text("access"),
                   {{"load", Access::load}, {"store", Access::store}, {"atomic", Access::atomic}}),
      "load, store or atomic");
  site.width = static_cast<unsigned>(json.whole_number("width"));
  site.accesses = static_cast<unsigned>(json.whole_number("accesses"));
  site.requests = json.whole_number("requests");
  site.lanes = json.whole_number("lanes");
  site.sectors = json.whole_number("sectors");
  site.least_sectors = json.whole_number("least_sectors");
  site.wavefronts = json.whole_number("wavefronts");
  site.least_wavefronts = json.whole_number("least_wavefronts");
  site.wavefronts_8 = json.whole_number("wavefronts_8");
  site.wavefronts_16 = json.whole_number("wavefronts_16");
  site.l1_passes = json.whole_number("l1_passes");
  site.addresses = json.whole_number("addresses");
  site.most_lanes = json.whole_number("most_lanes");
  json.done();
  return site;
}

count::Launch launch_of(judge::JsonObject json) {
  count::Launch launch;
  launch.kernel = json.text("kernel");
  launch.grid = extents(json, "grid");
  launch.block = extents(json, "block");
  launch.shared_bytes = json.whole_number("shared_bytes");
  launch.unique_read = json.whole_number("unique_read");
  launch.unique_written = json.whole_number("unique_written");
  launch.block_read = json.whole_number("block_read");
  launch.round_trips = json.whole_number("round_trips");
  for (const auto& [line, count] : json.number_map("barriers"))
    launch.barriers_at[line] = static_cast<std::uint64_t>(count);
  for (const auto& [name, count] : json.number_map("collectives"))
    launch.collectives[name] = static_cast<std::uint64_t>(count);
  if (json.has("wgmma"))
    for (const auto& [name, count] : json.number_map("wgmma"))
      launch.wgmma[name] = static_cast<std::uint64_t>(count);
  if (json.has("bulk")) {
    judge::JsonObject bulk = json.object("bulk");
    launch.bulk_loaded = bulk.whole_number("loaded_bytes");
    launch.bulk_stored = bulk.whole_number("stored_bytes");
    launch.bulk_in_flight = bulk.whole_number("most_in_flight_bytes");
    bulk.done();
  }
  json.each("sites", [&](judge::JsonObject site) { launch.sites.push_back(site_of(site)); });
  json.done();
  return launch;
}

} // namespace

std::vector<count::Launch> load_counts(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents)
    fail(path.string() + ": no such file; make it with `kernelgrade emulate --counts`");
  const nlohmann::json json = judge::parse_json(*contents, path.string());
  judge::JsonObject object(json, path.string());
  object.version(kSchema);
  std::vector<count::Launch> launches;
  object.each("launches", [&](judge::JsonObject one) { launches.push_back(launch_of(one)); });
  object.done();
  return launches;
}

} // namespace kg::cost
