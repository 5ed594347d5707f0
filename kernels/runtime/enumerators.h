// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Returns an enumerator's name from the source, so that no enum's names are written twice.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kg {

inline constexpr std::size_t kMostEnumerators = 16;

namespace spelling {

// "naive" for Variant::naive; empty if `value` is not an enumerator. In __PRETTY_FUNCTION__, g++
// and clang++ print "value = kg::copy::Variant::naive" for an enumerator, and "value =
// (kg::copy::Variant)7" for a number without a name.
template <auto value>
constexpr std::string_view of() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("value = ") + 8);
  text = text.substr(0, text.find_first_of(";]"));
  return text.empty() || text.front() == '(' ? std::string_view()
                                             : text.substr(text.rfind(':') + 1);
}

template <class Enum, std::size_t... numbers>
constexpr std::array<std::string_view, sizeof...(numbers)> table(std::index_sequence<numbers...>) {
  return {of<static_cast<Enum>(numbers)>()...};
}

} // namespace spelling

// For scoped enums whose enumerators are numbered from 0, at most kMostEnumerators. Empty if
// `value` is not one of them.
template <class Enum, class = std::enable_if_t<std::is_enum_v<Enum>>>
constexpr std::string_view name(Enum value) {
  constexpr auto names = spelling::table<Enum>(std::make_index_sequence<kMostEnumerators>());
  const auto number = static_cast<std::size_t>(value);
  return number < names.size() ? names[number] : std::string_view();
}

} // namespace kg
