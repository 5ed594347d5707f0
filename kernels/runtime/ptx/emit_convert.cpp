// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, selections and conversions (PTX ISA, "Comparison and Selection Instructions",
// "cvt").
#include "runtime/ptx/emitter.h"

#include <fmt/format.h>

namespace kg::ptx_run {

std::string Emitter::comparison(const std::string& how, const std::string& type,
                                const std::string& a, const std::string& b) const {
  const auto with = [&](const char* op) { return fmt::format("({} {} {})", a, op, b); };
  const auto otherwise = [&](const char* op) { return fmt::format("!({} {} {})", a, op, b); };
  if (how == "eq") return with("==");
  // A NaN is neither equal nor unequal to another float.
  if (how == "ne")
    return is_float(type) ? fmt::format("({0} < {1} || {0} > {1})", a, b) : with("!=");
  if (how == "lt" || how == "lo") return with("<");
  if (how == "le" || how == "ls") return with("<=");
  if (how == "gt" || how == "hi") return with(">");
  if (how == "ge" || how == "hs") return with(">=");
  if (how == "equ") return fmt::format("!({0} < {1} || {0} > {1})", a, b);
  if (how == "neu") return otherwise("==");
  if (how == "ltu") return otherwise(">=");
  if (how == "leu") return otherwise(">");
  if (how == "gtu") return otherwise("<=");
  if (how == "geu") return otherwise("<");
  if (how == "num") return fmt::format("({0} == {0} && {1} == {1})", a, b);
  if (how == "nan") return fmt::format("({0} != {0} || {1} != {1})", a, b);
  refuse("the comparison ." + how + " is not known");
}

bool Emitter::comparing() {
  const std::string& family = now_->parts[0];
  const std::string type = this->type();
  if (family == "setp") {
    if (now_->parts.size() < 3 || type.ends_with("x2"))
      refuse("a comparison of two pairs into two predicates is not executed");
    const bool half = type == "f16" || type == "bf16";
    const auto input = [&](std::size_t i) {
      if (half) return widened(in(i, "b16"), type);
      return has("ftz") ? "flush(" + in(i, type) + ")" : in(i, type);
    };
    const std::string how = now_->parts[1];
    std::string value = comparison(how, half ? "f32" : type, input(1), input(2));
    std::string negative = "!" + value;
    if (now_->operands.size() == 4) {
      const std::string with = has("and") ? "&&" : has("or") ? "||" : has("xor") ? "!=" : "";
      if (with.empty()) refuse("how its predicates are joined is not known");
      value = fmt::format("({} {} {})", value, with, predicate(operand(3)));
      negative = fmt::format("({} {} {})", negative, with, predicate(operand(3)));
    }
    if (operand(0).kind == Operand::Kind::pair) {
      const std::string first = fmt::format("p{}", temporaries_++);
      line(fmt::format("{{ const bool {} = {}; {} {} }}", first, value,
                       write(operand(0).parts[1], "pred", negative),
                       write(operand(0).parts[0], "pred", first)));
    } else {
      result("pred", value);
    }
  } else if (family == "set") {
    const std::string to = now_->parts[now_->parts.size() - 2];
    if (now_->operands.size() != 3) refuse("this form is not executed");
    if (type.ends_with("f16") || type.ends_with("f16x2")) return compare_halves(to, type);
    if (size_of(to) != 4 || to.ends_with("x2")) refuse("this form is not executed");
    const std::string value = comparison(now_->parts[1], type, in(1, type), in(2, type));
    result(to, is_float(to) ? value + " ? 1.f : 0.f"
                            : fmt::format("static_cast<{}>({} ? -1 : 0)", cpp_type(to), value));
  } else if (family == "selp") {
    only({});
    const std::string as = is_float(type) ? type : "b" + std::to_string(8 * size_of(type));
    result(as, fmt::format("({} ? {} : {})", predicate(operand(3)), in(1, as), in(2, as)));
  } else {
    return false;
  }
  return true;
}

// A 16-bit float as f32, which is exact.
std::string Emitter::widened(const std::string& bits, const std::string& type) {
  return (type.starts_with("bf16") ? "bf16_to_f32(" : "half_to_f32(") + bits + ")";
}

// set on 16-bit floats: 1 or 0 of such a type, or all bits of an integer; pairs, half by half.
bool Emitter::compare_halves(const std::string& to, const std::string& type) {
  only({now_->parts[1], to});
  const bool pair = type.ends_with("x2");
  const bool integer = to == "u32" || to == "s32";
  if (!integer && to != type) refuse("this form is not executed");
  const char* const yes = to.starts_with("bf16")  ? "0x3f80u"
                          : to.starts_with("f16") ? "0x3c00u"
                          : pair                  ? "0xffffu"
                                                  : "~0u";
  const auto compared = [&](const char* half) {
    const auto input = [&](std::size_t i) {
      return widened(
          pair ? fmt::format("static_cast<u16>({}{})", in(i, "b32"), half) : in(i, "b16"), type);
    };
    return fmt::format("({} ? {} : 0u)", comparison(now_->parts[1], "f32", input(1), input(2)),
                       yes);
  };
  if (pair)
    result("b32", fmt::format("({} | {} << 16)", compared(""), compared(" >> 16")));
  else if (integer)
    result("b32", compared(""));
  else
    result("b16", "static_cast<u16>(" + compared("") + ")");
  return true;
}

// Converts one unpacked type to another.
void Emitter::convert_value(const std::string& to, const std::string& from) {
  const std::string mode = round();
  const bool from_half = from == "f16" || from == "bf16";
  std::string value = in(1, from_half ? "b16" : from == "tf32" ? "b32" : from);
  std::string type = from;
  if (from_half) { // exact
    value = widened(value, from);
    type = "f32";
  }
  if (has("ftz") && type == "f32") value = "flush(" + value + ")";
  const bool integral_to = to[0] == 's' || to[0] == 'u';
  if (is_float(type) && integral_to) {
    if (!has("rzi") && !has("rni") && !has("rmi") && !has("rpi")) refuse("its rounding is missing");
    result(to, fmt::format("to_int<{}>({}, {})", cpp_type(to), value, mode));
    return;
  }
  if (integral_to) {
    result(to, has("sat") ? fmt::format("saturate_int<{}>({})", cpp_type(to), value)
                          : fmt::format("static_cast<{}>({})", cpp_type(to), value));
    return;
  }
  if (!is_float(type)) { // integer to float
    const std::string name = type[0] == 's' ? "int" : "unsigned";
    if (to == "f64") {
      if (mode != "nearest") refuse("a double rounded in this direction is not needed so far");
      value = fmt::format("static_cast<f64>({})", value);
      type = "f64";
    } else if (to == "f32") {
      value = mode == "nearest" ? fmt::format("static_cast<f32>({})", value)
                                : fmt::format("from_{}_directed({}, {})", name, value, mode);
      type = "f32";
    } else {
      // Round to odd first, so that the second rounding is the only one.
      value = fmt::format("from_{}_directed({}, zero)", name, value);
      if (size_of(from) > 2) refuse("so wide an integer as a 16-bit float is not needed so far");
      type = "f32";
    }
  }
  if (has("rni") || has("rzi") || has("rmi") || has("rpi")) {
    const char* name = has("rni")   ? "nearbyint"
                       : has("rzi") ? "trunc"
                       : has("rmi") ? "floor"
                                    : "ceil";
    value = fmt::format("__builtin_{}{}({})", name, type == "f32" ? "f" : "", value);
  }
  if (has("relu")) value = fmt::format("without_negative<{}>({})", type, value);
  if (to == "f16") {
    result("b16", type == "f64"       ? fmt::format("half_of_double({}, {})", value, mode)
                  : mode == "nearest" ? "f32_to_half(" + value + ")"
                                      : fmt::format("half_of({}, {})", value, mode));
    return;
  }
  if (to == "bf16") {
    if (type != "f32") refuse("a bfloat16 of a double is not needed so far");
    result("b16", fmt::format("bf16_of({}, {})", value, mode));
    return;
  }
  if (to == "f32" && type == "f64")
    value = mode == "nearest" ? fmt::format("static_cast<f32>({})", value)
                              : fmt::format("narrow_directed({}, {})", value, mode);
  if (to == "f64" && type == "f32") value = fmt::format("static_cast<f64>({})", value);
  if (has("ftz") && to == "f32") value = "flush(" + value + ")";
  if (has("sat") && to == "f32") value = "saturate(" + value + ")";
  // An f64 NaN becomes what the CPU makes of it, quiet and with the same sign, as on an H200. The
  // PTX ISA leaves it open.
  result(to, to == "f32" && is_float(from) && from != "f64" ? with_one_nan(value) : value);
}

bool Emitter::converting() {
  if (now_->parts[0] != "cvt") return false;
  only({"rn",  "rz",   "rm",        "rp",    "rna",    "rni", "rzi", "rmi",  "rpi",    "ftz",
        "sat", "relu", "satfinite", "u8",    "u16",    "u32", "u64", "s8",   "s16",    "s32",
        "s64", "f16",  "bf16",      "f16x2", "bf16x2", "f32", "f64", "tf32", "e4m3x2", "e5m2x2"});
  const std::string from = type();
  const std::string to = now_->parts[now_->parts.size() - 2];
  const bool eight_bits = to == "e4m3x2" || to == "e5m2x2";
  if (has("satfinite") != eight_bits || (eight_bits && (from != "f32" || has("relu"))))
    refuse("of .satfinite only the conversions of f32 to pairs of 8 bits are executed");
  if (eight_bits) { // the first operand is the upper half
    const std::string name = to.substr(0, 4) + "_of";
    result("b16", fmt::format("static_cast<u16>({0}({1}) << 8 | {0}({2}))", name, in(1, "f32"),
                              in(2, "f32")));
  } else if (from == "e4m3x2") {
    if (to != "f16x2" || has("relu")) refuse("of e4m3 only the conversion to f16x2 is executed");
    result("b32", "halves_of_e4m3(" + in(1, "b16") + ")");
  } else if (to == "tf32") {
    if (!has("rna")) refuse("to TF32 only .rna is executed");
    result("b32", "tf32_of(" + in(1, "f32") + ")");
  } else if (to == "f16x2" || to == "bf16x2") {
    // The first operand is the upper half.
    const std::string name = to == "f16x2" ? "half_of" : "bf16_of";
    const auto each = [&](std::size_t i) {
      const std::string value =
          has("relu") ? fmt::format("without_negative<f32>({})", in(i, "f32")) : in(i, "f32");
      return fmt::format("static_cast<u32>({}({}, {}))", name, value, round());
    };
    result("b32", fmt::format("({} << 16 | {})", each(1), each(2)));
  } else {
    convert_value(to, from);
  }
  return true;
}

bool Emitter::moving() {
  const std::string& family = now_->parts[0];
  if (family == "cvta") {
    // Generic, global, constant and local addresses are host addresses. A shared memory address is
    // an offset.
    only({"to", "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"});
    if (shared_space().empty())
      result("u64", in(1, "u64"));
    else if (clusters_)
      result("u64", has("to") ? "to_window(" + in(1, "u64") + ")"
                              : fmt::format("reinterpret_cast<u64>(cluster_memory({}, {}))",
                                            in(1, "u64"), where()));
    else if (has("to"))
      result("u64", "(" + in(1, "u64") + " - reinterpret_cast<u64>(shared))");
    else
      result("u64", "(reinterpret_cast<u64>(shared) + " + in(1, "u64") + ")");
    return true;
  }
  if (family == "isspacep") {
    const std::string space = this->type(), at = in(1, "u64");
    if (space == "shared" || space == "shared::cta")
      result("pred", "is_shared(" + at + ")");
    else if (space == "shared::cluster")
      result("pred", "is_in_cluster(" + at + ")");
    else if (space == "local")
      result("pred", "is_local(" + at + ")");
    else if (space == "global")
      result("pred", fmt::format("!({1}({0}) || is_local({0}))", at,
                                 clusters_ ? "is_in_cluster" : "is_shared"));
    else
      refuse("of this space it is not executed");
    return true;
  }
  if (family != "mov") return false;
  only({});
  const std::string type = this->type();
  if (operand(0).kind == Operand::Kind::vector) { // unpacks a wide register, the low part first
    const auto& parts = operand(0).parts;
    const std::string whole = fmt::format("m{}", temporaries_++);
    const std::size_t width = 8 * size_of(type) / parts.size();
    const std::string wide = cpp_type("b" + std::to_string(8 * size_of(type)));
    std::string text = fmt::format("{{ const {} {} = {};", wide, whole,
                                   in(1, "b" + std::to_string(8 * size_of(type))));
    for (std::size_t i = 0; i < parts.size(); ++i)
      text += " " + write(parts[i], "b" + std::to_string(width),
                          fmt::format("static_cast<u{}>({} >> {})", width, whole, width * i));
    line(text + " }");
    return true;
  }
  if (operand(1).kind == Operand::Kind::vector) {
    const auto& parts = operand(1).parts;
    const std::size_t width = 8 * size_of(type) / parts.size();
    const std::string wide = cpp_type("b" + std::to_string(8 * size_of(type)));
    std::string value;
    for (std::size_t i = 0; i < parts.size(); ++i)
      value += fmt::format("{}static_cast<{}>({}) << {}", i == 0 ? "" : " | ", wide,
                           read(parts[i], "b" + std::to_string(width)), width * i);
    result("b" + std::to_string(8 * size_of(type)), "static_cast<" + wide + ">(" + value + ")");
    return true;
  }
  result(type, in(1, type));
  if (copies_sum())
    line(fmt::format("wgmma_sum_copied(&{}, &{});", find(operand(0).text)->variable,
                     find(operand(1).text)->variable));
  return true;
}

} // namespace kg::ptx_run
