// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Vocabulary of a row: device, mode, status, kind of canary, and the key that joins a measured row
// with its baseline.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kg::judge {

enum class Device { host, gpu };

// cold: device time, L2 flushed. hot: device time, L2 resident. graph: device time per graph node.
// real: wall time of a call, as the caller sees it.
enum class Mode { cold, hot, graph, real };

// gate: a regression fails. info: never fails. xfail: expected to regress; reported if it does not.
enum class Status { gate, info, xfail };

// Whose implementation a variant is.
enum class Kind { ours, vendor };

// What limits the canary kernel.
enum class CanaryKind { memory, compute, sync, launch };

constexpr std::string_view name(Device device) { return device == Device::host ? "host" : "gpu"; }

constexpr std::string_view name(Mode mode) {
  switch (mode) {
  case Mode::cold: return "cold";
  case Mode::hot: return "hot";
  case Mode::graph: return "graph";
  case Mode::real: return "real";
  }
  return "";
}

constexpr std::string_view name(Status status) {
  switch (status) {
  case Status::gate: return "gate";
  case Status::info: return "info";
  case Status::xfail: return "xfail";
  }
  return "";
}

constexpr std::string_view name(Kind kind) { return kind == Kind::ours ? "ours" : "vendor"; }

constexpr std::string_view name(CanaryKind kind) {
  switch (kind) {
  case CanaryKind::memory: return "memory";
  case CanaryKind::compute: return "compute";
  case CanaryKind::sync: return "sync";
  case CanaryKind::launch: return "launch";
  }
  return "";
}

// The enumerator named `word`, if any. `last` is the last enumerator of the enumeration.
template <typename Enum>
constexpr std::optional<Enum> named(std::string_view word, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  return std::nullopt;
}
constexpr std::optional<Mode> mode_named(std::string_view word) { return named(word, Mode::real); }
constexpr std::optional<Status> status_named(std::string_view word) {
  return named(word, Status::xfail);
}
constexpr std::optional<Kind> kind_named(std::string_view word) {
  return named(word, Kind::vendor);
}
constexpr std::optional<CanaryKind> canary_named(std::string_view word) {
  return named(word, CanaryKind::launch);
}

// A row is case x variant x mode. Ordered as in the files: bytewise by name.
struct RowKey {
  std::string case_id;
  std::string variant;
  Mode mode = Mode::real;

  friend bool operator==(const RowKey&, const RowKey&) = default;
  friend std::strong_ordering operator<=>(const RowKey& a, const RowKey& b) {
    if (const auto order = a.case_id <=> b.case_id; order != 0) return order;
    if (const auto order = a.variant <=> b.variant; order != 0) return order;
    return name(a.mode) <=> name(b.mode);
  }
};

// "softmax.f32.r64_c64 online real"
inline std::string text(const RowKey& key) {
  return key.case_id + " " + key.variant + " " + std::string(name(key.mode));
}

// A case id is <op>.<dtype>.<parameters>. These return its first two parts; empty if missing.
constexpr std::string_view op_of(std::string_view case_id) {
  return case_id.substr(0, case_id.find('.'));
}
constexpr std::string_view dtype_of(std::string_view case_id) {
  const auto dot = case_id.find('.');
  return dot == case_id.npos ? std::string_view() : op_of(case_id.substr(dot + 1));
}
// The third part.
constexpr std::string_view shape_of(std::string_view case_id) {
  const std::size_t before = op_of(case_id).size() + dtype_of(case_id).size() + 2;
  return case_id.substr(std::min(before, case_id.size()));
}

} // namespace kg::judge
