// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/json_reader.h"

#include "perf/format/schema.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace kg::judge {
namespace {

using nlohmann::json;

// '~' and '/' are escaped in a JSON pointer (RFC 6901, section 3).
std::string escaped(const std::string& name) {
  std::string result;
  for (const char c : name) {
    if (c == '~')
      result += "~0";
    else if (c == '/')
      result += "~1";
    else
      result += c;
  }
  return result;
}

} // namespace

json parse_json(std::string_view contents, const std::string& file) {
  std::vector<std::set<std::string>> names; // per open object
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) names.emplace_back();
    if (event == json::parse_event_t::object_end) names.pop_back();
    if (event == json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second)
      throw Error(
          fmt::format("{}: the member {} is given twice in one object; keep the correct one", file,
                      parsed.dump()));
    return true;
  };
  try {
    return json::parse(contents, watch);
  } catch (const json::parse_error& error) {
    const auto end =
        contents.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, contents.size()));
    throw Error(fmt::format("{}:{}: this is not JSON ({}); restore the file or write it anew", file,
                            1 + std::count(contents.begin(), end, '\n'), error.what()));
  } catch (const json::exception& error) { // a number beyond the range of double
    throw Error(fmt::format("{}: {}; restore the file or write it anew", file, error.what()));
  }
}

JsonObject::JsonObject(const json& value, std::string file, std::string pointer)
    : value_(value), file_(std::move(file)), pointer_(std::move(pointer)) {
  if (!value_.is_object())
    throw Error(fmt::format("{}: {}: expected an object, {{...}}", file_,
                            pointer_.empty() ? "the whole file" : pointer_));
}

void JsonObject::fail(const std::string& member, std::string_view what,
                      std::string_view fix) const {
  throw Error(fmt::format("{}: {}/{} {}; {}", file_, pointer_, escaped(member), what, fix));
}

bool JsonObject::has(const std::string& member) const { return value_.contains(member); }

const json& JsonObject::member(const std::string& name) {
  asked_.insert(name);
  if (!value_.contains(name)) fail(name, "is missing", "add it, or write the file anew");
  return value_[name];
}

void JsonObject::unexpected(const json& value, const std::string& place,
                            std::string_view expected) const {
  constexpr std::size_t kShown = 40;
  std::string got = value.dump();
  if (got.size() > kShown) got = got.substr(0, kShown) + "...";
  throw Error(fmt::format("{}: {}/{}: expected {}, got {}", file_, pointer_, place, expected, got));
}

double JsonObject::checked(const json& value, const std::string& place) const {
  if (!value.is_number() || !(std::abs(value.get<double>()) <= kGreatest))
    unexpected(value, place, fmt::format("a number from -{0:g} to {0:g}", kGreatest));
  return value.get<double>();
}

double JsonObject::number(const std::string& name) { return checked(member(name), escaped(name)); }

std::size_t JsonObject::whole_number(const std::string& name) {
  const double value = from_zero(name);
  if (value != std::floor(value)) unexpected(member(name), escaped(name), "a whole number");
  return static_cast<std::size_t>(value);
}

std::string JsonObject::text(const std::string& name) {
  const json& value = member(name);
  if (!value.is_string()) unexpected(value, escaped(name), "a string");
  return value.get<std::string>();
}

double JsonObject::positive(const std::string& name) {
  const double value = number(name);
  if (value <= 0) unexpected(member(name), escaped(name), "a positive number");
  return value;
}

double JsonObject::from_zero(const std::string& name) {
  const double value = number(name);
  if (value < 0) unexpected(member(name), escaped(name), "a number from 0");
  return value;
}

const json& JsonObject::list(const std::string& name) {
  const json& value = member(name);
  if (!value.is_array()) unexpected(value, escaped(name), "an array");
  return value;
}

std::vector<double> JsonObject::numbers(const std::string& name) {
  std::vector<double> values;
  for (const json& value : list(name))
    values.push_back(checked(value, fmt::format("{}/{}", escaped(name), values.size())));
  return values;
}

std::vector<double> JsonObject::positives(const std::string& name) {
  const std::vector<double> values = numbers(name);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] > 0))
      unexpected(list(name)[i], fmt::format("{}/{}", escaped(name), i), "a positive number");
  return values;
}

JsonObject JsonObject::object(const std::string& name) {
  return JsonObject(member(name), file_, pointer_ + "/" + escaped(name));
}

std::map<std::string, std::string> JsonObject::texts(const std::string& name) {
  JsonObject below = object(name);
  std::map<std::string, std::string> result;
  for (const auto& [key, value] : below.value_.items()) result[key] = below.text(key);
  return result;
}

std::set<std::string> JsonObject::words(const std::string& name) {
  std::set<std::string> result;
  for (const json& word : list(name)) {
    if (!word.is_string())
      unexpected(word, fmt::format("{}/{}", escaped(name), result.size()), "a string");
    if (!result.insert(word.get<std::string>()).second)
      fail(name, fmt::format("has {} twice", word.dump()), "remove one of them");
  }
  return result;
}

std::map<std::string, double> JsonObject::number_map(const std::string& name) {
  JsonObject below = object(name);
  std::map<std::string, double> result;
  for (const auto& [key, value] : below.value_.items()) result[key] = below.number(key);
  return result;
}

std::map<std::string, double> JsonObject::positive_map(const std::string& name) {
  JsonObject below = object(name);
  std::map<std::string, double> result;
  for (const auto& [key, value] : below.value_.items()) result[key] = below.positive(key);
  return result;
}

void JsonObject::each(const std::string& name, const std::function<void(JsonObject)>& visit) {
  const json& objects = list(name);
  for (std::size_t i = 0; i < objects.size(); ++i)
    visit(JsonObject(objects[i], file_, fmt::format("{}/{}/{}", pointer_, escaped(name), i)));
}

void JsonObject::version(int expected) {
  if (member("schema") != json(expected))
    fail("schema",
         fmt::format("is {}, but this program reads {}", value_["schema"].dump(), expected),
         "write the file anew with this program, or use the program that wrote it");
}

void JsonObject::done() const {
  for (const auto& [name, value] : value_.items())
    if (!asked_.contains(name)) fail(name, "is unknown", "remove it");
}

} // namespace kg::judge
