// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/json.h"

#include "runtime/error.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace kg::models {

nlohmann::json parse_object(const std::string& text, const std::string& file) {
  using nlohmann::json;
  constexpr int kDeepest = 8;
  std::vector<std::set<std::string>> open; // the member names of each open object
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kDeepest) throw Error(file + ": its JSON lies too deep");
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      throw Error(file + ": \"" + parsed.get<std::string>() + "\" is there twice");
    return true;
  };
  try {
    json object = json::parse(text, check);
    if (!object.is_object()) throw Error(file + ": it holds no JSON object");
    return object;
  } catch (const json::exception& error) {
    throw Error(file + ": " + error.what());
  }
}

} // namespace kg::models
