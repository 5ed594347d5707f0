// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Strict JSON reader. A missing, unknown or repeated member, or one of the wrong type, throws
// kg::Error with the file, the JSON pointer (RFC 6901), the problem and the fix. So does a number
// that is not finite or whose magnitude exceeds kGreatest (schema.h).
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

// Parses a whole file. Members of one object must have different names; nlohmann alone would
// silently keep the last one.
nlohmann::json parse_json(std::string_view contents, const std::string& file);

// One object, whose members are read by name. done() then rejects all members that were not read.
class JsonObject {
 public:
  JsonObject(const nlohmann::json& value, std::string file, std::string pointer = "");

  std::string text(const std::string& member);
  double positive(const std::string& member);
  double from_zero(const std::string& member);
  std::size_t whole_number(const std::string& member); // >= 0
  std::vector<double> numbers(const std::string& member);
  std::vector<double> positives(const std::string& member);
  std::map<std::string, std::string> texts(const std::string& member);
  std::set<std::string> words(const std::string& member); // an array of distinct strings
  std::map<std::string, double> positive_map(const std::string& member);
  std::map<std::string, double> number_map(const std::string& member);
  JsonObject object(const std::string& member);
  void each(const std::string& member, const std::function<void(JsonObject)>& visit);

  // The member `schema` must be this number.
  void version(int expected);

  // Throws, naming the member, if `value` is empty: the file's word is not an allowed one.
  template <typename Enum>
  Enum known(const std::string& member, std::optional<Enum> value, std::string_view allowed) {
    if (!value) fail(member, "has an unknown value", "use " + std::string(allowed));
    return *value;
  }

  bool has(const std::string& member) const;
  void done() const;

  [[noreturn]] void fail(const std::string& member, std::string_view what,
                         std::string_view fix) const;

 private:
  const nlohmann::json& member(const std::string& name);
  const nlohmann::json& list(const std::string& name);
  double number(const std::string& name);
  double checked(const nlohmann::json& value, const std::string& place) const;
  // `place`: an escaped member, or an element of one.
  [[noreturn]] void unexpected(const nlohmann::json& value, const std::string& place,
                               std::string_view expected) const;

  const nlohmann::json& value_;
  std::string file_;
  std::string pointer_;
  std::set<std::string> asked_;
};

} // namespace kg::judge
