// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Strict reading of JSON: a member that is missing, unknown, repeated or of the wrong type throws
// kg::Error with the file, the JSON pointer (RFC 6901), what is wrong and what to do. So does a
// number that is not finite or beyond kGreatest (schema.h), either way.
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

// Parses a whole file. Members of one object must have different names; nlohmann alone would keep
// the last.
nlohmann::json parse_json(std::string_view contents, const std::string& file);

// One object, whose members are asked for by name; done() then objects to those that nobody asked
// for.
class JsonObject {
 public:
  JsonObject(const nlohmann::json& value, std::string file, std::string pointer = "");

  std::string text(const std::string& member);
  double positive(const std::string& member);
  double from_zero(const std::string& member);
  std::size_t whole_number(const std::string& member); // from zero
  std::vector<double> numbers(const std::string& member);
  std::vector<double> positives(const std::string& member);
  std::map<std::string, std::string> texts(const std::string& member);
  std::set<std::string> words(const std::string& member); // an array of strings, each once
  std::map<std::string, double> positive_map(const std::string& member);
  std::map<std::string, double> number_map(const std::string& member);
  JsonObject object(const std::string& member);
  void each(const std::string& member, const std::function<void(JsonObject)>& visit);

  // The member `schema` must be this number.
  void version(int expected);

  // Throws, naming the member, if `value` is empty: the word in the file is none of those allowed.
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
  // `place`: a member, escaped, or an element of one.
  [[noreturn]] void unexpected(const nlohmann::json& value, const std::string& place,
                               std::string_view expected) const;

  const nlohmann::json& value_;
  std::string file_;
  std::string pointer_;
  std::set<std::string> asked_;
};

} // namespace kg::judge
