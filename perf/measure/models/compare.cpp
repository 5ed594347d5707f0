// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/compare.h"

#include "models/safetensors.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kg::perf {
namespace {

using models::SafetensorsReader;

ArrayDistance distance(const std::string& name, const std::vector<float>& a,
                       const std::vector<float>& b) {
  ArrayDistance far{.name = name, .elements = static_cast<std::int64_t>(a.size())};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    const double counted = std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity();
    far.mean += counted / static_cast<double>(a.size());
    far.greatest = std::max(far.greatest, counted);
    far.size += std::abs(static_cast<double>(b[i])) / static_cast<double>(a.size());
  }
  return far;
}

void require_arrays(const SafetensorsReader& there, const SafetensorsReader& here,
                    const std::filesystem::path& file) {
  for (const auto& [name, stored] : there.arrays())
    if (!here.arrays().contains(name))
      throw Error(
          fmt::format("{}: no array \"{}\", which the other file has", file.string(), name));
}

} // namespace

std::vector<ArrayDistance> distances(const std::filesystem::path& a,
                                     const std::filesystem::path& b) {
  SafetensorsReader first(a), second(b);
  require_arrays(first, second, b);
  require_arrays(second, first, a);
  std::vector<ArrayDistance> all;
  for (const auto& [name, stored] : first.arrays()) {
    if (stored.shape != second.array(name).shape || stored.dtype != second.array(name).dtype)
      throw Error(fmt::format("array \"{}\" has another shape or type in {} than in {}", name,
                              a.string(), b.string()));
    if (stored.dtype != "I32") {
      all.push_back(distance(name, first.floats(name), second.floats(name)));
    } else if (first.integers(name) != second.integers(name)) {
      throw Error(fmt::format("array \"{}\" is not the same in both files: they come from "
                              "different inputs",
                              name));
    }
  }
  require(!all.empty(), a.string() + ": it has no array of floats to compare");
  return all;
}

bool within(const std::vector<ArrayDistance>& distances, double most) {
  return std::all_of(distances.begin(), distances.end(),
                     [&](const ArrayDistance& each) { return each.mean <= most; });
}

std::string text(const std::vector<ArrayDistance>& distances, double most) {
  std::string text = fmt::format("{:<44} {:>12} {:>11} {:>11} {:>11}\n", "array", "elements",
                                 "mean error", "greatest", "mean size");
  for (const ArrayDistance& each : distances)
    text += fmt::format("{:<44} {:>12} {:>11.3e} {:>11.3e} {:>11.3e}{}\n", each.name, each.elements,
                        each.mean, each.greatest, each.size, each.mean <= most ? "" : "  too far");
  return text + fmt::format("mean absolute error {} {:.1e} in each of them\n",
                            within(distances, most) ? "at most" : "NOT at most", most);
}

} // namespace kg::perf
