// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic and logic (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
// Instructions").
#include "runtime/ptx/emitter.h"

#include <fmt/format.h>

namespace kg::ptx_run {
namespace {

bool is_integer(const std::string& type) {
  return size_of(type) != 0 &&
         (type[0] == 'u' || type[0] == 's' || (type[0] == 'b' && type[1] != 'f'));
}

std::string wider(const std::string& type) {
  return type.substr(0, 1) + std::to_string(16 * size_of(type));
}

} // namespace

bool Emitter::integer() {
  const std::string& family = now_->parts[0];
  const std::string type = this->type();
  if (!is_integer(type) || type == "b8") return false;
  // Sums and products wrap in the unsigned type of the same width, the type of registers. Most of a
  // kernel is then plain sums, which compile fastest. Short types would be promoted to int.
  const bool is_short = size_of(type) < 4;
  const std::string wrapping =
      (is_short ? type.substr(0, 1) : "u") + std::to_string(8 * size_of(type));
  const auto wrapped = [&](const std::string& x, char op, const std::string& y) {
    return is_short ? fmt::format("static_cast<{}>(static_cast<u32>({}) {} static_cast<u32>({}))",
                                  cpp_type(type), x, op, y)
                    : fmt::format("({} {} {})", x, op, y);
  };
  const auto product = [&] {
    if (has("wide")) {
      const std::string to = wider(type);
      return fmt::format("static_cast<{0}>(static_cast<{0}>({1}) * static_cast<{0}>({2}))",
                         cpp_type(to), in(1, type), in(2, type));
    }
    if (has("hi")) {
      if (size_of(type) < 4) refuse("the high half of such a short product is not supported");
      return fmt::format("static_cast<{}>(high_product({}, {}))", cpp_type(type), in(1, type),
                         in(2, type));
    }
    return wrapped(in(1, wrapping), '*', in(2, wrapping));
  };
  const auto product_type = [&] { return has("wide") ? wider(type) : has("hi") ? type : wrapping; };
  if (family == "add" || family == "sub") {
    only({});
    result(wrapping, wrapped(in(1, wrapping), family == "add" ? '+' : '-', in(2, wrapping)));
  } else if (family == "mul") {
    only({"lo", "hi", "wide"});
    result(product_type(), product());
  } else if (family == "mad") {
    only({"lo", "hi", "wide"});
    const std::string to = product_type();
    result(to, to == wrapping
                   ? wrapped(product(), '+', in(3, to))
                   : fmt::format("static_cast<{0}>(static_cast<u64>({1}) + static_cast<u64>({2}))",
                                 cpp_type(to), product(), in(3, to)));
  } else if (family == "div" || family == "rem") {
    only({});
    result(type, fmt::format("{}<{}>({}, {})", family == "div" ? "quotient" : "remainder",
                             cpp_type(type), in(1, type), in(2, type)));
  } else if (family == "neg") {
    only({});
    result(type,
           fmt::format("static_cast<{}>(-static_cast<u64>({}))", cpp_type(type), in(1, type)));
  } else if (family == "abs") {
    only({});
    result(type,
           fmt::format("static_cast<{0}>({1} < 0 ? -static_cast<u64>({1}) : static_cast<u64>({1}))",
                       cpp_type(type), in(1, type)));
  } else if (family == "min" || family == "max") {
    only({});
    const std::string a = in(1, type);
    const std::string b = in(2, type);
    result(type, fmt::format("({} {} {} ? {} : {})", b, family == "min" ? '<' : '>', a, b, a));
  } else if (family == "shl") {
    only({});
    result(type, fmt::format("shift_left<{}>({}, {})", cpp_type(type), in(1, type), in(2, "u32")));
  } else if (family == "shr") {
    only({});
    result(type, fmt::format("shift_right<{}>({}, {})", cpp_type(type), in(1, type), in(2, "u32")));
  } else {
    return false;
  }
  return true;
}

bool Emitter::bits() {
  const std::string& family = now_->parts[0];
  const std::string type = this->type();
  const std::string to = cpp_type(type);
  const auto operation = [&](char op) {
    only({});
    if (type == "pred")
      result(type, fmt::format("({} {} {}) != 0", in(1, type), op, in(2, type)));
    else
      result(type, fmt::format("static_cast<{}>({} {} {})", to, in(1, type), op, in(2, type)));
  };
  if (family == "and") {
    operation('&');
  } else if (family == "or") {
    operation('|');
  } else if (family == "xor") {
    operation('^');
  } else if (family == "not") {
    only({});
    result(type, type == "pred" ? "!(" + in(1, type) + ")"
                                : fmt::format("static_cast<{}>(~{})", to, in(1, type)));
  } else if (family == "cnot") {
    only({});
    result(type, fmt::format("static_cast<{}>({} == 0)", to, in(1, type)));
  } else if (family == "lop3") {
    only({});
    result(type, fmt::format("three_input_logic({}, {}, {}, {})", in(1, type), in(2, type),
                             in(3, type), in(4, "u32")));
  } else if (family == "shf") {
    only({"l", "r", "wrap", "clamp"});
    const std::string by = has("wrap") ? fmt::format("({} & 31)", in(3, "u32")) : in(3, "u32");
    result(type, fmt::format("funnel_{}({}, {}, {})", has("l") ? "left" : "right", in(1, type),
                             in(2, type), by));
  } else if (family == "prmt") {
    only({});
    result(type, fmt::format("byte_permute({}, {}, {})", in(1, type), in(2, type), in(3, "u32")));
  } else if (family == "bfe") {
    only({});
    result(type, fmt::format("extract_bits<{}>({}, {}, {})", to, in(1, type), in(2, "u32"),
                             in(3, "u32")));
  } else if (family == "bfi") {
    only({});
    result(type, fmt::format("insert_bits<{}>({}, {}, {}, {})", to, in(1, type), in(2, type),
                             in(3, "u32"), in(4, "u32")));
  } else if (family == "bmsk") { // a mask of ones; insert_bits uses eight bits of its bounds
    only({"clamp", "wrap"});
    const auto end = [&](int i) {
      const std::string value = in(i, "u32");
      return has("wrap") ? fmt::format("({} & 31)", value)
                         : fmt::format("({0} > 32 ? 32 : {0})", value);
    };
    result(type,
           fmt::format("insert_bits<{0}>(~{0}{{0}}, {0}{{0}}, {1}, {2})", to, end(1), end(2)));
  } else if (family == "bfind") {
    only({"shiftamt"});
    result("u32", fmt::format("highest_bit<{}>({}, {})", to, in(1, type), has("shiftamt")));
  } else if (family == "dp4a") {
    const std::string& of_a = now_->parts[1];
    only({"s32", "u32"});
    result("u32", fmt::format("dot_of_bytes({}, {}, {}, {}, {})", in(1, "u32"), of_a == "s32",
                              in(2, "u32"), type == "s32", in(3, "u32")));
  } else if (family == "brev") {
    only({});
    result(type, fmt::format("reverse_bits<{}>({})", to, in(1, type)));
  } else if (family == "popc") {
    only({});
    result("u32", fmt::format("static_cast<u32>(__builtin_popcountl({}))", in(1, type)));
  } else if (family == "clz") {
    only({});
    const int width = static_cast<int>(8 * size_of(type));
    result("u32", fmt::format("({0} == 0 ? {1}u : static_cast<u32>(__builtin_clzl({0})) - {2}u)",
                              in(1, type), width, 64 - width));
  } else {
    return false;
  }
  return true;
}

} // namespace kg::ptx_run
