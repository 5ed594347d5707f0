// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/chosen.h"

#include "perf/measure/models/cases.h"
#include "runtime/backend.h"
#include "runtime/error.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace kg::perf {
namespace {

// 256 for dim256. Empty if the word has another key or is not a number.
std::optional<std::int64_t> number_behind(std::string_view key, std::string_view word) {
  if (!word.starts_with(key)) return std::nullopt;
  word.remove_prefix(key.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 1) return std::nullopt;
  return number;
}

// The model of an id that is not listed; a text that is not an id gives a model with another id.
// A transformer's id does not contain its configuration, so it must be listed but for its steps.
std::optional<Spec> unlisted(std::string_view id, const std::filesystem::path& configs) {
  Spec spec;
  const std::size_t shape = id.rfind('.') + 1;
  std::string_view rest = id.substr(shape);
  for (bool first = true; !rest.empty(); first = false) {
    const std::string_view word = rest.substr(0, rest.find('_'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (first) spec.name = word;
    const auto read = [&](std::string_view key, std::int64_t& into) {
      into = number_behind(key, word).value_or(into);
    };
    read("dim", spec.mlp.dim);
    read("layers", spec.mlp.layers);
    read("batch", spec.batch);
    read("size", spec.size);
    read("steps", spec.steps);
    if (word == "nchw") spec.layout = Layout::nchw;
    if (word == "training") spec.training = true;
  }
  if (spec.name != "transformer") return case_id(spec) == id ? std::optional(spec) : std::nullopt;
  for (const ModelCase& each : model_cases(configs)) {
    Spec longer = each.spec;
    longer.steps = spec.steps;
    if (case_id(longer) == id) return longer;
  }
  return std::nullopt;
}

} // namespace

std::vector<Spec> chosen(const std::vector<std::string>& words,
                         const std::filesystem::path& configs) {
  std::vector<Spec> all;
  const auto add = [&](const Spec& spec) {
    if (std::none_of(all.begin(), all.end(),
                     [&](const Spec& each) { return case_id(each) == case_id(spec); }))
      all.push_back(spec);
  };
  for (const std::string& word : words) {
    bool found = false;
    for (const ModelCase& each : model_cases(configs)) {
      const std::string id = case_id(each.spec);
      const bool usual = each.spec.dtype == Dtype::f32 && each.spec.generate == 0 &&
                         (backend == Backend::cuda || !each.large);
      if (id != word && !(usual && id.find(word) != id.npos)) continue;
      add(each.spec);
      found = true;
    }
    if (found) continue;
    const std::optional<Spec> spec = unlisted(word, configs);
    if (!spec)
      throw Error(word + ": no listed model has this in its id (kernelgrade model gate lists them "
                         "on the host), and no other is named so");
    add(*spec);
  }
  return all;
}

} // namespace kg::perf
