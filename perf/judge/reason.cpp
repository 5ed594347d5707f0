// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/reason.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kg::judge {
namespace {

// Code points beyond ASCII that are invisible or not letters: spaces, fillers, combining marks, and
// marks of direction and width.
constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 13> kBlank{{{0x80, 0xBF},
                                                                          {0x300, 0x36F},
                                                                          {0x115F, 0x1160},
                                                                          {0x1680, 0x1680},
                                                                          {0x17B4, 0x17B5},
                                                                          {0x180B, 0x180F},
                                                                          {0x2000, 0x206F},
                                                                          {0x2800, 0x2800},
                                                                          {0x3000, 0x3000},
                                                                          {0x3164, 0x3164},
                                                                          {0xFE00, 0xFE0F},
                                                                          {0xFEFF, 0xFFFF},
                                                                          {0xE0000, 0x10FFFF}}};

bool is_seen(std::uint32_t point) {
  if (point < 0x80) return std::isalnum(static_cast<int>(point)) != 0;
  for (const auto& [first, last] : kBlank)
    if (point >= first && point <= last) return false;
  return true;
}

// Removes and returns the next code point; 0xFFFFFFFF if the bytes are not UTF-8.
std::uint32_t take(std::string_view& text) {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return kNone;
  std::uint32_t point = length == 1 ? first : first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return kNone;
    point = point << 6 | (next & 0x3FU);
  }
  text.remove_prefix(length);
  return point;
}

} // namespace

std::string fault_of_reason(std::string_view reason) {
  if (reason.empty()) return "";
  bool seen = false;
  while (!reason.empty()) {
    const std::uint32_t point = take(reason);
    if (point == 0xFFFFFFFF) return "is not UTF-8";
    if (point < 0x20 || point == 0x7F) return "has a line end or another control character";
    seen = seen || is_seen(point);
  }
  return seen ? "" : "has no letter and no digit";
}

} // namespace kg::judge
