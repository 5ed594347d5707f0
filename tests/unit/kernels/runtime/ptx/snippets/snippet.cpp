// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/ptx/snippets/snippet.h"

#include "tests/unit/kernels/runtime/ptx/snippets/exact.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace kg::test::snippets {
namespace {

unsigned width_of(const std::string& type) {
  if (type == "pred") return 1;
  if (type.ends_with("x2")) return 32;
  return static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789"))));
}
bool is_float(const std::string& type) { return type.find('f') != std::string::npos; }

// Registers hold 16 bits at least; floats have registers of their own.
std::string register_type(const std::string& type) {
  if (type == "pred" || type == "f32" || type == "f64") return "." + type;
  return fmt::format(".b{}", std::max(16u, width_of(type)));
}

// Bit patterns of each width at which something changes, and of floats the ends of their ranges.
std::vector<Word> special_values(const std::string& type) {
  const unsigned width = width_of(type);
  std::vector<Word> values;
  if (type == "pred") return {0, 1};
  if (type == "f16x2" || type == "bf16x2") {
    const std::vector<Word> halves = special_values(type.substr(0, type.size() - 2));
    for (std::size_t i = 0; i < halves.size(); ++i)
      values.push_back(halves[i] | halves[(i * 7 + 3) % halves.size()] << 16);
    return values;
  }
  if (!is_float(type)) {
    for (const Word word : {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256})
      values.push_back(word);
    const Word top = Word{1} << (width - 1);
    for (const Word word : {top, top - 1, top + 1, ~Word{0}, ~Word{1}, ~Word{6},
                            Word{0x123456789abcdef0}, Word{0x80007fff00008001}})
      values.push_back(word);
    return values;
  }
  // Exponent and fraction of the format, with either sign.
  const unsigned fraction = type == "f64" ? 52 : type == "f32" ? 23 : type == "f16" ? 10 : 7;
  const Word one = (Word{1} << (width - 2)) - (Word{1} << fraction); // its bits
  const Word place = Word{1} << fraction;
  const Word infinity = (Word{1} << (width - 1)) - place;
  for (const Word word : {Word{0},
                          Word{1},
                          place - 1,
                          place,
                          place + 1,
                          one - place,
                          one - 1,
                          one,
                          one + 1,
                          one + place / 2,
                          one + place + place / 4,
                          one + 3 * place,
                          one + fraction * place,
                          one + (fraction + 2) * place - 1,
                          one + 31 * place,
                          one - 12 * place,
                          infinity - place,
                          infinity - 1,
                          infinity,
                          infinity + 1,
                          infinity + place / 2}) {
    if (word > infinity + place / 2) continue; // of a narrow format
    values.push_back(word);
    values.push_back(word | Word{1} << (width - 1));
  }
  return values;
}

// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014)
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t x = state += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double float_of(const std::string& type, Word bits) {
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "f32") return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return value_of(static_cast<std::uint16_t>(bits), type == "f16" ? kHalf : kBrain);
}

// The number of 32-bit floats from one to the other.
double places_between(float a, float b) {
  const auto ordered = [](float value) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    return bits < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits
                    : std::int64_t{bits};
  };
  return static_cast<double>(std::llabs(ordered(a) - ordered(b)));
}

std::string words_of(const std::string& type, Word bits) {
  const unsigned width = std::max(width_of(type), 4u);
  std::string text = fmt::format("0x{:0{}x}", bits, width / 4);
  if (type == "f64" || type == "f32" || type == "f16" || type == "bf16")
    text += fmt::format(" ({:.9g})", float_of(type, bits));
  return text;
}

Word kept(const std::string& type, Word bits) {
  const unsigned width = std::max(width_of(type), width_of(type) == 1 ? 1u : 16u);
  return width == 64 ? bits : bits & ((Word{1} << width) - 1);
}

bool equal(const Snippet& snippet, const std::string& type, Word got, Word wanted) {
  if (got == wanted) return true;
  if (!is_float(type) || snippet.canonical_nan) return false;
  const std::string each = type.ends_with("x2") ? type.substr(0, type.size() - 2) : type;
  const unsigned width = width_of(each);
  for (unsigned at = 0; at < width_of(type); at += width) {
    const Word a = width == 64 ? got : got >> at & ((Word{1} << width) - 1);
    const Word b = width == 64 ? wanted : wanted >> at & ((Word{1} << width) - 1);
    if (a != b && !(std::isnan(float_of(each, a)) && std::isnan(float_of(each, b)))) return false;
  }
  return true;
}

std::string kernel_of(const Snippet& snippet) {
  std::string declare, load, store;
  for (std::size_t i = 0; i < snippet.inputs.size(); ++i) {
    const std::string& type = snippet.inputs[i];
    declare += fmt::format("  .reg {} %i{};\n", register_type(type), i);
    if (type == "pred")
      load += fmt::format("  ld.global.u32 %word, [%in+{}];\n  and.b32 %word, %word, 1;\n"
                          "  setp.ne.s32 %i{}, %word, 0;\n",
                          8 * i, i);
    else
      load += fmt::format("  ld.global{} %i{}, [%in+{}];\n", register_type(type), i, 8 * i);
  }
  for (std::size_t i = 0; i < snippet.outputs.size(); ++i) {
    const std::string& type = snippet.outputs[i];
    declare += fmt::format("  .reg {} %o{};\n", register_type(type), i);
    if (type == "pred")
      store += fmt::format("  selp.b32 %word, 1, 0, %o{};\n  st.global.u32 [%out+{}], %word;\n", i,
                           8 * i);
    else
      store += fmt::format("  st.global{} [%out+{}], %o{};\n", register_type(type), 8 * i, i);
  }
  const std::string tile =
      snippet.shared_bytes == 0
          ? ""
          : fmt::format("  .shared .align 16 .b8 tile[{}];\n", snippet.shared_bytes);
  return fmt::format(R"({}
.visible .entry {}(.param .u64 kg_in, .param .u64 kg_out, .param .align 16 .b8 kg_bytes[16])
{{
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<8>, %word, %lane;
  .reg .b64 %d<4>, %in, %out;
{}{}  ld.param.u64 %in, [kg_in];
  ld.param.u64 %out, [kg_out];
  mov.u32 %lane, %tid.x;
  mov.u32 %r0, %ctaid.x;
  shl.b32 %r0, %r0, 5;
  add.s32 %r0, %r0, %lane;
  mul.wide.u32 %d0, %r0, {};
  add.s64 %in, %in, %d0;
  mul.wide.u32 %d0, %r0, {};
  add.s64 %out, %out, %d0;
{}  {}
{}  ret;
}}
)",
                     snippet.functions, kernel_name(snippet), declare, tile,
                     8 * snippet.inputs.size(), 8 * snippet.outputs.size(), load, snippet.body,
                     store);
}

} // namespace

Wanted Type<Within>::wanted(const Within& value) {
  const auto nearest = static_cast<float>(value.exact);
  return {
      .bits = std::bit_cast<std::uint32_t>(nearest), .error = value.error, .exact = value.exact};
}

Snippet of_warp(const std::string& form, std::vector<std::string> inputs,
                std::vector<std::string> outputs, const std::string& body,
                std::function<Word(const std::function<std::uint32_t(unsigned, std::size_t)>& in,
                                   unsigned lane, std::size_t output)>
                    result) {
  Snippet made;
  made.form = form;
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  made.body = body;
  const std::size_t ins = made.inputs.size(), outs = made.outputs.size();
  made.oracle = [=](const Word* in, Wanted* out) {
    const auto operand = [=](unsigned lane, std::size_t i) {
      return static_cast<std::uint32_t>(in[lane * ins + i]);
    };
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (std::size_t k = 0; k < outs; ++k) out[lane * outs + k].bits = result(operand, lane, k);
  };
  return made;
}

Snippet with_one_nan(Snippet snippet) {
  snippet.canonical_nan = true;
  snippet.oracle = [oracle = std::move(snippet.oracle), types = snippet.outputs](const Word* in,
                                                                                 Wanted* out) {
    oracle(in, out);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (std::size_t k = 0; k < types.size(); ++k) {
        Wanted& wanted = out[lane * types.size() + k];
        if (types[k] == "f32" && std::isnan(float_of("f32", wanted.bits))) wanted.bits = 0x7fffffff;
      }
  };
  return snippet;
}

std::string kernel_name(const Snippet& snippet) {
  std::string name = "kg_";
  for (const char c : snippet.form)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

std::string module_of(const std::vector<const Snippet*>& snippets) {
  int target = 80;
  std::string kernels;
  for (const Snippet* const each : snippets) {
    target = std::max(target, each->target);
    kernels += kernel_of(*each);
  }
  return fmt::format(".version 8.{}\n.target sm_{}\n.address_size 64\n{}", target < 90 ? 0 : 1,
                     target, kernels);
}

std::vector<Word> operands_of(const Snippet& snippet) {
  constexpr std::size_t kMost = 30'000, kRandom = 1024;
  const std::size_t inputs = snippet.inputs.size();
  std::uint64_t state = inputs;
  std::vector<Word> words;
  if (snippet.operand) {
    for (std::size_t i = 0; i < kRandom; ++i)
      for (std::size_t k = 0; k < inputs; ++k) words.push_back(snippet.operand(i, k, next(state)));
    return words;
  }
  std::vector<std::vector<Word>> values;
  std::size_t combinations = 1;
  for (const std::string& type : snippet.inputs) {
    values.push_back(special_values(type));
    combinations = std::min(combinations * values.back().size(), 10 * kMost);
  }
  const bool all = combinations <= kMost;
  for (std::size_t i = 0; i < (all ? combinations : kMost); ++i) {
    std::size_t rest = i;
    for (std::size_t k = 0; k < inputs; ++k) {
      const std::size_t count = values[k].size();
      words.push_back(values[k][all ? rest % count : next(state) % count]);
      rest /= count;
    }
  }
  const std::size_t together = std::size_t{kLanes} * snippet.cluster;
  const std::size_t lanes = (words.size() / inputs + kRandom) / together * together;
  while (words.size() < lanes * inputs) words.push_back(next(state));
  return words;
}

std::string complaint(const Snippet& snippet, const Word* in, const Word* out, const Wanted* wanted,
                      std::size_t& differing) {
  for (std::size_t k = 0; k < snippet.outputs.size(); ++k) {
    const std::string& type = snippet.outputs[k];
    const Word got = kept(type, out[k]), right = kept(type, wanted[k].bits);
    if (!wanted[k].specified || equal(snippet, type, got, right)) continue;
    std::string bound;
    if (wanted[k].error > 0) {
      const double value = float_of(type, got);
      const double off = std::fabs(value - wanted[k].exact);
      if (off <= wanted[k].error) {
        ++differing;
        continue;
      }
      bound = fmt::format("; off by {:.3g}, {:.0f} places, where {:.3g} is allowed", off,
                          places_between(static_cast<float>(value),
                                         std::bit_cast<float>(static_cast<std::uint32_t>(right))),
                          wanted[k].error);
    }
    std::string operands;
    for (std::size_t i = 0; i < snippet.inputs.size(); ++i)
      operands +=
          (i == 0 ? "" : ", ") +
          words_of(snippet.inputs[i], width_of(snippet.inputs[i]) == 64
                                          ? in[i]
                                          : in[i] & ((Word{1} << width_of(snippet.inputs[i])) - 1));
    return fmt::format("{} of {}: {}{}, and not {}{}", snippet.form, operands,
                       snippet.outputs.size() > 1 ? fmt::format("result {} is ", k) : "",
                       words_of(type, got), words_of(type, right), bound);
  }
  return "";
}

} // namespace kg::test::snippets
