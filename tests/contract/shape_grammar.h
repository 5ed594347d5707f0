// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "tests/contract/shape.h"

namespace kg::card {

// The parameters of an operation's shapes, in the order of its ids, and where the struct P stores
// each one. The accessors `at` are members of P, or callables that return a reference:
//
//   ShapeGrammar<Heads>().number("h", &Heads::heads).number("kv", &Heads::kv_heads, &Heads::heads)
//       .one_of(&Heads::layout, {{"", Layout::bhsd}, {"bshd", Layout::bshd}})
//       .flag("causal", &Heads::causal);
template <class P>
class ShapeGrammar {
 public:
  // key<number>, "m128". Optional with `otherwise`, a number or an earlier parameter's accessor.
  // With `needed`, it must be there exactly if needed(P) is true.
  template <class At>
  ShapeGrammar& number(std::string key, At at) {
    return add({key + "<number>",
                [=](const Shape& shape, P& p) { std::invoke(at, p) = shape.number(key); },
                [=](P& p) { return key + std::to_string(std::invoke(at, p)); }});
  }
  template <class At, class Otherwise>
  ShapeGrammar& number(std::string key, At at, Otherwise otherwise) {
    return add(
        {"[" + key + "<number>]",
         [=](const Shape& shape, P& p) {
           std::invoke(at, p) = shape.has_number(key) ? shape.number(key) : value(otherwise, p);
         },
         [=](P& p) {
           const std::int64_t number = std::invoke(at, p);
           return number == value(otherwise, p) ? std::string() : key + std::to_string(number);
         }});
  }
  template <class At, class Otherwise, class Needed>
  ShapeGrammar& number(std::string key, At at, Otherwise otherwise, Needed needed) {
    return add({"[" + key + "<number>]",
                [=](const Shape& shape, P& p) {
                  std::invoke(at, p) = needed(p) ? shape.number(key) : value(otherwise, p);
                },
                [=](P& p) {
                  return needed(p) ? key + std::to_string(std::invoke(at, p)) : std::string();
                }});
  }

  // key<number>.<number>..., "p1000.37".
  template <class At>
  ShapeGrammar& numbers(std::string key, At at) {
    return add({key + "<numbers>",
                [=](const Shape& shape, P& p) { std::invoke(at, p) = shape.numbers(key); },
                [=](P& p) {
                  std::string text;
                  for (const std::int64_t value : std::invoke(at, p))
                    text += (text.empty() ? key : ".") + std::to_string(value);
                  return text;
                }});
  }

  // One of these words or phrases ("bias_gelu"); "" is the value of a shape without any of them.
  template <class At>
  using ValueAt = std::remove_cvref_t<std::invoke_result_t<At, P&>>;
  template <class At>
  ShapeGrammar& one_of(At at, std::vector<std::pair<std::string, ValueAt<At>>> words) {
    std::vector<std::string> allowed;
    std::string listed;
    bool optional = false;
    for (const auto& [word, value] : words) {
      allowed.push_back(word);
      optional |= word.empty();
      if (!word.empty()) listed += (listed.empty() ? "" : "|") + word;
    }
    return add({(optional ? "[" : "(") + listed + (optional ? "]" : ")"),
                [=](const Shape& shape, P& p) {
                  std::invoke(at, p) = words[shape.phrase(allowed)].second;
                },
                [=](P& p) {
                  for (const auto& [word, value] : words)
                    if (value == std::invoke(at, p)) return word;
                  fail("the shape has no word for one of its parameters: " + listed);
                }});
  }

  // The same for enumerators, by name.
  template <class At, class Enumerators>
  ShapeGrammar& enumerator(At at, const Enumerators& enumerators) {
    std::vector<std::pair<std::string, ValueAt<At>>> words;
    for (const auto each : enumerators) words.emplace_back(name(each), each);
    return one_of(at, std::move(words));
  }

  // An optional word.
  template <class At>
  ShapeGrammar& flag(std::string word, At at) {
    return one_of(at, {{"", false}, {word, true}});
  }

  // All fields of the nested struct at `at`; without `at`, of P itself.
  template <class Q, class At = std::identity>
  ShapeGrammar& nested(const ShapeGrammar<Q>& grammar, At at = {}) {
    for (const auto& field : grammar.fields_)
      add({field.text,
           [=, read = field.read](const Shape& shape, P& p) { read(shape, std::invoke(at, p)); },
           [=, print = field.print](P& p) { return print(std::invoke(at, p)); }});
    for (const auto& fault : grammar.faults_)
      faults_.push_back([=](const P& p) { return fault(std::invoke(at, p)); });
    return *this;
  }

  // A constraint between parameters: `fault` returns a sentence that says what is wrong, or "".
  ShapeGrammar& demand(std::function<std::string(const P&)> fault) {
    faults_.push_back(std::move(fault));
    return *this;
  }

  // Several parameters that are parsed and printed together.
  ShapeGrammar& part(std::string text, std::function<void(const Shape&, P&)> read,
                     std::function<std::string(P&)> print) {
    return add({std::move(text), std::move(read), std::move(print)});
  }

  // Throws Error naming what is missing, unknown, repeated, contradictory, out of order, or
  // redundant because it states the default.
  P parse(const Shape& shape) const {
    P result{};
    for (const Field& field : fields_) field.read(shape, result);
    shape.require_all_used();
    const std::string canonical = print(result);
    if (canonical != shape.text())
      throw Error("shape '" + shape.text() + "': write it as " + canonical);
    for (const auto& fault : faults_)
      if (const std::string text = fault(result); !text.empty())
        throw Error("shape '" + shape.text() + "': " + text);
    return result;
  }
  P parse(std::string_view text) const { return parse(Shape::parse(text)); }

  // The canonical shape of these parameters.
  std::string print(P parameters) const {
    std::string result;
    for (const Field& field : fields_) {
      const std::string word = field.print(parameters);
      if (!word.empty()) result += (result.empty() ? "" : "_") + word;
    }
    return result;
  }

  // For messages: "h<number> [kv<number>] [bshd] [causal]".
  std::string text() const {
    std::string result;
    for (const Field& field : fields_) result += (result.empty() ? "" : " ") + field.text;
    return result;
  }

 private:
  template <class>
  friend class ShapeGrammar;
  struct Field {
    std::string text;
    std::function<void(const Shape&, P&)> read;
    std::function<std::string(P&)> print;
  };
  template <class Otherwise>
  static std::int64_t value(const Otherwise& otherwise, P& p) {
    if constexpr (std::is_integral_v<Otherwise>)
      return otherwise;
    else
      return std::invoke(otherwise, p);
  }
  ShapeGrammar& add(Field field) {
    fields_.push_back(std::move(field));
    return *this;
  }

  std::vector<Field> fields_;
  std::vector<std::function<std::string(const P&)>> faults_;
};

} // namespace kg::card
