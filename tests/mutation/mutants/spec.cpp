// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/mutation/mutants/spec.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/mutation/mutants/classify.h"

namespace kg::mutants {

namespace {

using nlohmann::json;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// The end of `pattern` in `source` from `at` on; any run of white space matches any other.
std::optional<std::size_t> match(std::string_view source, std::size_t at,
                                 std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size();) {
    if (at >= source.size()) return std::nullopt;
    if (is_space(pattern[i])) {
      if (!is_space(source[at])) return std::nullopt;
      while (i < pattern.size() && is_space(pattern[i])) ++i;
      while (at < source.size() && is_space(source[at])) ++at;
    } else if (pattern[i++] != source[at++]) {
      return std::nullopt;
    }
  }
  return at;
}

std::vector<Place> find_all(std::string_view source, std::string_view pattern, std::size_t from) {
  std::vector<Place> places;
  for (std::size_t at = from; at < source.size(); ++at)
    if (const auto end = match(source, at, pattern)) places.push_back({at, *end});
  return places;
}

// The fields of one mutant, each read once.
class Fields {
 public:
  Fields(json object, std::string where) : left_(std::move(object)), where_(std::move(where)) {}

  std::string take(const char* key, bool required) {
    const auto found = left_.find(key);
    if (found == left_.end()) {
      require(!required, fmt::format("{} has no \"{}\"", where_, key));
      return "";
    }
    require(found->is_string(), fmt::format("{}: \"{}\" is not a string", where_, key));
    std::string value = found->get<std::string>();
    left_.erase(found);
    return value;
  }

  void expect_none_left() const {
    if (!left_.empty())
      fail(fmt::format("{}: unknown key \"{}\"; see tests/mutation/mutants/spec.h", where_,
                       left_.begin().key()));
  }

 private:
  json left_;
  std::string where_;
};

Mutant parse_mutant(json object, const std::string& path, std::size_t number) {
  std::string where = fmt::format("{}: mutant {}", path, number);
  Fields fields(std::move(object), where);
  Mutant m;
  m.name = fields.take("name", true);
  where = fmt::format("{}: mutant \"{}\"", path, m.name);
  const bool legal = std::all_of(m.name.begin(), m.name.end(),
                                 [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  require(legal && !m.name.empty() && m.name != "none",
          where + ": a name is made of letters, digits and '_', and is not \"none\"");
  m.file = fields.take("file", true);
  m.after = fields.take("after", false);
  m.original = fields.take("original", true);
  m.mutant = fields.take("mutant", true);
  m.killed_by = fields.take("killed_by", true);
  m.tests = fields.take("tests", false);
  m.why = fields.take("why", true);
  fields.expect_none_left();
  require(!m.file.empty() && !m.original.empty() && !m.why.empty(),
          where + ": \"file\", \"original\" and \"why\" must not be empty");
  require(m.kind() == Kind::statement || !m.mutant.empty(),
          where + ": an expression needs a mutant");
  require(is_check(m.killed_by), fmt::format("{}: killed_by is \"{}\"; the checks are: {}", where,
                                             m.killed_by, check_names()));
  return m;
}

// Appends the mutants of a list; `shared` has the fields of the enclosing objects.
void parse_list(const json& list, const json& shared, const std::string& path,
                std::vector<Mutant>& mutants) {
  require(list.is_array(), path + " is not a JSON array");
  for (const json& own : list) {
    require(own.is_object(),
            fmt::format("{}: mutant {} is not an object", path, mutants.size() + 1));
    json object = shared;
    object.update(own);
    if (const auto inner = own.find("mutants"); inner != own.end()) {
      object.erase("mutants");
      parse_list(*inner, object, path, mutants);
    } else {
      mutants.push_back(parse_mutant(std::move(object), path, mutants.size() + 1));
    }
  }
}

} // namespace

std::vector<Mutant> parse_spec(const std::string& text, const std::string& path) {
  std::vector<Mutant> mutants;
  parse_list(json::parse(text, nullptr, false), json::object(), path, mutants);
  std::set<std::string> names;
  for (const Mutant& mutant : mutants)
    require(names.insert(mutant.name).second,
            fmt::format("{}: two mutants are called \"{}\"", path, mutant.name));
  return mutants;
}

std::vector<Mutant> read_spec(const std::filesystem::path& path) {
  const std::optional<std::string> text = read_file(path);
  require(text.has_value(), fmt::format("{} is missing: every op has its mutants", path.string()));
  std::vector<Mutant> mutants = parse_spec(*text, path.string());
  require(mutants.size() >= kLeastMutants,
          fmt::format("{}: {} mutants; an op has at least {}", path.string(), mutants.size(),
                      kLeastMutants));
  return mutants;
}

Place find_original(std::string_view source, const Mutant& m) {
  const auto unique = [&](std::string_view key, const std::string& text) {
    const std::vector<Place> places = find_all(source, text, 0);
    require(places.size() == 1,
            fmt::format("mutant \"{}\": \"{}\" occurs {} times in {}, not once: {}", m.name, key,
                        places.size(), m.file, text));
    return places.front();
  };
  if (m.after.empty()) return unique("original", m.original);
  const std::vector<Place> places = find_all(source, m.original, unique("after", m.after).end);
  require(!places.empty(), fmt::format("mutant \"{}\": \"original\" occurs 0 times in {} behind "
                                       "\"after\": {}",
                                       m.name, m.file, m.original));
  return places.front();
}

int line_of(std::string_view source, std::size_t at) {
  return 1 +
         static_cast<int>(std::count(source.begin(), source.begin() + static_cast<long>(at), '\n'));
}

} // namespace kg::mutants
