// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// NVBench's JSON, file version 1.0: `devices`, and `benchmarks` with a state for each point of
// their axes. A state's summaries hold values under tags ("nv/cold/time/gpu/mean", in seconds).
// With --jsonbin one of them names a file of samples, little-endian float32.
#include "perf/lab/import/formats.h"

#include "perf/format/json_reader.h"
#include "runtime/atomic_file.h"
#include "runtime/device.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace kg::imports {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are little-endian");

using nlohmann::json;

constexpr double kNsPerSecond = 1e9;

// Where a mode's times are found, best source first.
struct Source {
  judge::Mode mode;
  const char* samples; // the summary that names the samples' file
  std::array<const char*, 2> summaries;
};
constexpr std::array kSources = {
    Source{judge::Mode::cold,
           "nv/json/bin:nv/cold/sample_times",
           {"nv/cold/time/gpu/median", "nv/cold/time/gpu/mean"}},
    Source{judge::Mode::hot, "", {"nv/batch/time/gpu/median", "nv/batch/time/gpu/mean"}},
    Source{judge::Mode::real,
           "nv/json/bin:nv/cpu_only/sample_times",
           {"nv/cpu_only/time/cpu/median", "nv/cpu_only/time/cpu/mean"}}};

// An empty list is written as null.
json without_nulls(json value) {
  if (!value.is_structured()) return value;
  for (auto at = value.begin(); at != value.end();) {
    if (at->is_null()) {
      at = value.erase(at);
    } else {
      *at = without_nulls(*at);
      ++at;
    }
  }
  return value;
}

void each_if_any(judge::JsonObject& object, const std::string& member,
                 const std::function<void(judge::JsonObject)>& visit) {
  if (object.has(member)) object.each(member, visit);
}

using Data = std::map<std::string, std::string>; // a summary's values as written
using Summaries = std::map<std::string, Data>;   // by tag

Summaries summaries_of(judge::JsonObject& state) {
  Summaries found;
  each_if_any(state, "summaries", [&](judge::JsonObject summary) {
    Data& data = found[summary.text("tag")];
    each_if_any(summary, "data",
                [&](judge::JsonObject item) { data[item.text("name")] = item.text("value"); });
  });
  return found;
}

// NVBench names the file relative to the JSON file; older versions, to their working folder.
std::string read_sidecar(const std::filesystem::path& path, const std::string& name,
                         const std::string& where) {
  const std::filesystem::path beside = path.parent_path() / name;
  const std::filesystem::path older = path.parent_path() / (path.filename().string() + "-bin") /
                                      std::filesystem::path(name).filename();
  for (const auto& candidate : {beside, older})
    if (auto contents = read_file(candidate)) return std::move(*contents);
  throw Error(fmt::format("{}: {} is not there; copy it along with the JSON file, or write that "
                          "anew by --json instead of --jsonbin",
                          where, beside.string()));
}

std::vector<double> samples_of(const Data& data, const std::filesystem::path& path,
                               const std::string& where) {
  const std::string bytes = read_sidecar(path, data.at("filename"), where);
  std::vector<double> samples_ns;
  for (std::size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
    float seconds = 0;
    std::memcpy(&seconds, bytes.data() + at, sizeof(float));
    if (!std::isfinite(seconds) || !(seconds > 0))
      throw Error(fmt::format("{}: sample {} of {} is {} s; measure again", where,
                              samples_ns.size(), data.at("filename"), seconds));
    samples_ns.push_back(kNsPerSecond * static_cast<double>(seconds));
  }
  const auto size = data.find("size");
  if (samples_ns.empty() || bytes.size() % sizeof(float) != 0 ||
      (size != data.end() && size->second != std::to_string(samples_ns.size())))
    throw Error(fmt::format("{}: {} has {} bytes, which are not its {} samples of 4 bytes; measure "
                            "again",
                            where, data.at("filename"), bytes.size(),
                            size == data.end() ? "?" : size->second));
  return samples_ns;
}

// Sets the row's times from the best available source; false if there is none for its mode.
bool take_times(judge::Measured& row, const Source& source, const Summaries& summaries,
                const std::filesystem::path& path, const std::string& where) {
  const auto samples = summaries.find(source.samples);
  if (samples != summaries.end() && samples->second.contains("filename")) {
    judge::take_samples(row, samples_of(samples->second, path, where));
    return true;
  }
  for (const char* tag : source.summaries) {
    const auto summary = summaries.find(tag);
    if (summary == summaries.end() || !summary->second.contains("value")) continue;
    const std::string& text = summary->second.at("value");
    const std::optional<double> seconds = judge::parse_number(text);
    if (seconds && *seconds > 0)
      judge::take_samples(row, {kNsPerSecond * *seconds});
    else
      row.verified = fmt::format("{} is '{}', which is not a time", tag, text);
    row.note = fmt::format("one sample, {}", tag);
    return true;
  }
  return false;
}

// The type axes, in order.
std::vector<std::string> type_axes(judge::JsonObject& benchmark) {
  std::vector<std::string> names;
  each_if_any(benchmark, "axes", [&](judge::JsonObject axis) {
    if (axis.text("type") == "type") names.push_back(axis.text("name"));
  });
  return names;
}

class Reader {
 public:
  Reader(const std::filesystem::path& path) : path_(path) {}

  judge::Results read(judge::JsonObject root) {
    run_.environment["format"] = "nvbench";
    each_if_any(root, "benchmarks", [&](judge::JsonObject benchmark) {
      const std::string name = benchmark.text("name");
      const std::vector<std::string> types = type_axes(benchmark);
      each_if_any(benchmark, "states", [&](judge::JsonObject state) {
        read_state(name, types.empty() ? "" : types.front(), state);
      });
    });
    if (run_.rows.empty())
      throw Error(path_.string() + ": /benchmarks holds no state with a time; run the benchmarks");
    take_device(root);
    return std::move(run_);
  }

 private:
  void read_state(const std::string& benchmark, const std::string& type_axis,
                  judge::JsonObject& state) {
    const std::string where = fmt::format("{}: benchmark '{}', state '{}'", path_.string(),
                                          benchmark, state.text("name"));
    const double device = state.from_zero("device");
    if (device_.value_or(device) != device)
      throw Error(fmt::format("{}: it ran on device {:g}, others on {:g}; run with --devices {:g}",
                              where, device, *device_, *device_));
    device_ = device;
    std::string dtype, parameters;
    each_if_any(state, "axis_values", [&](judge::JsonObject axis) {
      const std::string name = axis.text("name"), value = axis.text("value");
      if (name == type_axis)
        dtype = value;
      else
        parameters += fmt::format("_{}{}", name, value);
    });
    const auto row = [&](judge::Mode mode) {
      return imported_row(benchmark, dtype, parameters, mode);
    };
    if (state.has("skip_reason")) {
      judge::Measured skipped = row(judge::Mode::cold);
      skipped.skipped = state.text("skip_reason");
      return add_row(run_, std::move(skipped), where);
    }
    const Summaries summaries = summaries_of(state);
    for (const Source& source : kSources) {
      judge::Measured timed = row(source.mode);
      if (take_times(timed, source, summaries, path_, where))
        add_row(run_, std::move(timed), where);
    }
  }

  void take_device(judge::JsonObject& root) {
    root.each("devices", [&](judge::JsonObject device) {
      if (device.from_zero("id") != *device_) return;
      run_.environment["device_name"] = device.text("name");
      run_.environment["device"] = device_slug(device.text("name"));
      run_.environment["sm_count"] = fmt::format("{:g}", device.positive("number_of_sms"));
    });
    if (!run_.environment.contains("device"))
      throw Error(fmt::format("{}: /devices lacks device {:g}, on which the states ran; write the "
                              "file anew",
                              path_.string(), *device_));
  }

  std::filesystem::path path_;
  judge::Results run_;
  std::optional<double> device_; // the only device
};

} // namespace

judge::Results from_nvbench(const json& root, const std::filesystem::path& path) {
  const json clean = without_nulls(root);
  return Reader(path).read(judge::JsonObject(clean, path.string()));
}

} // namespace kg::imports
