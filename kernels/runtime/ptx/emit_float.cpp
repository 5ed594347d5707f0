// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Floating point (PTX ISA, "Floating Point Instructions", "Half Precision Floating Point
// Instructions"). Approximations are computed to the last bit. A GPU's may differ within the bounds
// of the ISA, and so do these if isa_latitude.h asks for it.
#include "runtime/ptx/emitter.h"
#include "runtime/ptx/isa_latitude.h"

#include <fmt/format.h>

namespace kg::ptx_run {

bool Emitter::floating() {
  const std::string& family = now_->parts[0];
  const std::string type = this->type();
  if (!is_float(type)) return false;
  const bool ftz = has("ftz");
  const std::string mode = round();
  const std::string builtin = type == "f32" ? "f" : "";
  const auto input = [&](std::size_t i) {
    return ftz ? "flush(" + in(i, type) + ")" : in(i, type);
  };
  // product: the operands of a * b + c.
  const auto give = [&](std::string value, const std::string& product = "") {
    if (ftz)
      value = product.empty() ? fmt::format("flush({})", value)
                              : fmt::format("flush_rounded({}, {})", value, product);
    if (has("sat")) value = "saturate(" + value + ")";
    result(type, type == "f32" && !has("sat") ? with_one_nan(value) : value);
  };
  // If the CPU cannot round this way, a function does.
  const auto directed = [&](const std::string& function, const std::string& arguments) {
    give(fmt::format("{}_directed({}, {})", function, arguments, mode));
  };
  const bool may_fuse = isa_latitude().fuse && !has("rn") && !ftz && !has("sat");
  if (family == "add" || family == "sub") {
    only({"rn", "rz", "rm", "rp", "ftz", "sat"});
    const std::string b = family == "sub" ? "-" + input(2) : input(2);
    if (mode == "nearest") {
      const std::string sum =
          fmt::format("({} {} {})", input(1), family == "sub" ? '-' : '+', input(2));
      give(may_fuse ? fused(sum, family == "sub") : sum);
    } else
      directed("sum", input(1) + ", " + b);
  } else if (family == "mul") {
    only({"rn", "rz", "rm", "rp", "ftz", "sat"});
    if (mode == "nearest") {
      const Product product{input(1), input(2), operand(1).text + " " + operand(2).text + " "};
      give(fmt::format("({} * {})", product.a, product.b),
           fmt::format("{}, {}, 0", product.a, product.b));
      // Not if the product overwrites one of its factors.
      const bool in_place = product.sources.find(operand(0).text + " ") != std::string::npos;
      if (may_fuse && now_->guard.empty() && !in_place) products_[operand(0).text] = product;
    } else
      directed("product", input(1) + ", " + input(2));
  } else if (family == "fma" || family == "mad") {
    only({"rn", "rz", "rm", "rp", "ftz", "sat"});
    const std::string operands = fmt::format("{}, {}, {}", input(1), input(2), input(3));
    if (mode == "nearest")
      give(fmt::format("__builtin_fma{}({})", builtin, operands), operands);
    else
      directed("fma", operands);
  } else if (family == "neg") {
    only({"ftz"});
    give("-(" + input(1) + ")");
  } else if (family == "abs") {
    only({"ftz"});
    give(fmt::format("__builtin_fabs{}({})", builtin, input(1)));
  } else if (family == "min" || family == "max") {
    only({"ftz", "NaN"});
    const std::string a = input(1);
    const std::string b = input(2);
    const std::string plain =
        fmt::format("{}<{}>({}, {})", family == "min" ? "least" : "greatest", type, a, b);
    if (has("NaN") && type != "f32") refuse("of doubles .NaN is not needed so far");
    give(has("NaN") ? fmt::format("({0} != {0} || {1} != {1} ? quiet_nan() : {2})", a, b, plain)
                    : plain);
  } else if (family == "copysign") {
    only({});
    // The first operand has the sign, the second the magnitude.
    give(fmt::format("__builtin_copysign{}({}, {})", builtin, in(2, type), in(1, type)));
  } else {
    return false;
  }
  return true;
}

// The value as a GPU might return it. `of`: the argument; for zero and infinity, the ISA's tables
// give exact results. The bounds are those of the ISA for each instruction.
std::string Emitter::approximated(const std::string& value, const std::string& of) const {
  if (!isa_latitude().approximate || type() != "f32") return value;
  const std::string& family = now_->parts[0];
  const auto either = [&](const std::string& off) {
    return fmt::format("({0} == 0 || __builtin_isinf({0}) ? {1} : {2})", of, value, off);
  };
  const auto ulps = [&](int most) {
    return either(fmt::format("off_by_ulps({}, {})", value, most));
  };
  const auto error = [&](const std::string& relative, const std::string& absolute) {
    return either(fmt::format("off_by({}, {}, {})", value, relative, absolute));
  };
  if (family == "div" || family == "ex2") return ulps(2);
  if (family == "rcp") // an H200 returns exactly 1 for 1
    return fmt::format("(__builtin_fabsf({0}) == 1 ? {0} : {1})", of, ulps(1));
  if (family == "sqrt") return error("0x1p-23", "0");
  if (family == "rsqrt") return error("0x1.125p-23", "0"); // 2^-22.9
  if (family == "lg2")
    return error("0x1p-22", fmt::format("({0} > 0.5f && {0} < 2 ? 0x1p-22 : 0)", of));
  if (family == "sin" || family == "cos") return error("0", "0x1.6a0p-21"); // 2^-20.5
  if (family == "tanh") return error("0x1p-11", "0");
  refuse("its error is not known: unset KERNELGRADE_PTX_APPROX");
}

void Emitter::note_inexact(const std::string& name) {
  if (const std::size_t place = host::inexact(name); place < inexact_.size()) inexact_.set(place);
}

// The sum of operands 1 and 2. If one of them holds a product, both are fused.
std::string Emitter::fused(const std::string& sum, bool subtract) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const auto found = products_.find(operand(i).text);
    if (found == products_.end()) continue;
    const Product& product = found->second;
    const std::string other = in(3 - i, type());
    const std::string minus_a = subtract && i == 2 ? "-" : "";
    const std::string minus_c = subtract && i == 1 ? "-" : "";
    return fmt::format("__builtin_fma{}({}{}, {}, {}{})", type() == "f32" ? "f" : "", minus_a,
                       product.a, product.b, minus_c, other);
  }
  return sum;
}

// Division, roots and elementary functions.
bool Emitter::approximate() {
  const std::string& family = now_->parts[0];
  const std::string type = this->type();
  if (!is_float(type)) return false;
  const bool ftz = has("ftz");
  const std::string builtin = type == "f32" ? "f" : "";
  const auto input = [&](std::size_t i) {
    return ftz ? "flush(" + in(i, type) + ")" : in(i, type);
  };
  const auto give = [&](std::string value) {
    if (has("approx") || has("full")) {
      note_inexact(family + (has("full") ? ".full" : ".approx"));
      value = approximated(value, input(1));
    }
    if (ftz) value = "flush(" + value + ")";
    result(type, type == "f32" ? with_one_nan(value) : value);
  };
  const auto elementary = [&](const std::string& name) {
    only({"approx", "ftz"});
    if (type != "f32") refuse("it exists for f32 alone");
    give(fmt::format("{}_accurate({})", name, input(1)));
  };
  const std::string mode = round();
  const auto quotient = [&](const std::string& a, const std::string& b) {
    return mode == "nearest" ? fmt::format("({} / {})", a, b)
                             : fmt::format("quotient_directed({}, {}, {})", a, b, mode);
  };
  if (family == "div") {
    only({"rn", "rz", "rm", "rp", "approx", "full", "ftz"});
    give(has("approx") ? fmt::format("quotient_approx({}, {})", input(1), input(2))
                       : quotient(input(1), input(2)));
  } else if (family == "rcp") {
    only({"rn", "rz", "rm", "rp", "approx", "ftz"});
    give(quotient(type + "(1)", input(1)));
  } else if (family == "sqrt") {
    only({"rn", "rz", "rm", "rp", "approx", "ftz"});
    give(mode == "nearest" ? fmt::format("__builtin_sqrt{}({})", builtin, input(1))
                           : fmt::format("root_directed({}, {})", input(1), mode));
  } else if (family == "rsqrt") {
    only({"approx", "ftz"});
    // Rounded once: a float's square root is accurate enough as a double.
    give(type == "f32"
             ? fmt::format("static_cast<f32>(1.0 / __builtin_sqrt(static_cast<f64>({})))", input(1))
             : fmt::format("(1.0 / __builtin_sqrt({}))", input(1)));
  } else if (family == "ex2") {
    elementary("exp2");
  } else if (family == "lg2") {
    elementary("log2");
  } else if (family == "sin" || family == "cos" || family == "tanh") {
    elementary(family);
  } else {
    return false;
  }
  return true;
}

// 16-bit arithmetic: in f32, rounded once. Sums, products and the like need no more than that
// (runtime/host/float16.h). A fused multiply-add is rounded to odd first.
bool Emitter::half() {
  const std::string& family = now_->parts[0];
  const std::string type = this->type();
  const bool pair = type == "f16x2" || type == "bf16x2";
  if (!pair && type != "f16" && type != "bf16") return false;
  const bool brain = type.starts_with("bf16");
  const auto compute = [&](const std::vector<std::string>& v) -> std::string {
    std::vector<std::string> f;
    for (const std::string& bits : v)
      f.push_back((brain ? "bf16_to_f32(" : "half_to_f32(") + bits + ")");
    const auto rounded = [&](const std::string& value) {
      return brain ? "bf16_of(" + value + ", nearest)" : "f32_to_half(" + value + ")";
    };
    if (family == "add") return rounded(f[0] + " + " + f[1]);
    if (family == "sub") return rounded(f[0] + " - " + f[1]);
    if (family == "mul") return rounded(f[0] + " * " + f[1]);
    if (family == "fma")
      return fmt::format("{}_fma({}, {}, {})", brain ? "bf16" : "half", f[0], f[1], f[2]);
    if (family == "neg") return "static_cast<u16>(" + v[0] + " ^ 0x8000)";
    if (family == "abs") return "static_cast<u16>(" + v[0] + " & 0x7fff)";
    if (family == "min") return rounded("least<f32>(" + f[0] + ", " + f[1] + ")");
    if (family == "max") return rounded("greatest<f32>(" + f[0] + ", " + f[1] + ")");
    return "";
  };
  if (compute({"a", "b", "c"}).empty()) return false;
  only({"rn"});
  std::vector<std::string> words;
  for (std::size_t i = 1; i < now_->operands.size(); ++i)
    words.push_back(in(i, pair ? "b32" : "b16"));
  if (!pair) {
    result("b16", compute(words));
    return true;
  }
  std::vector<std::string> low;
  std::vector<std::string> high;
  for (const std::string& word : words) {
    low.push_back("static_cast<u16>(" + word + ")");
    high.push_back("static_cast<u16>(" + word + " >> 16)");
  }
  result("b32", fmt::format("(static_cast<u32>({}) | static_cast<u32>({}) << 16)", compute(low),
                            compute(high)));
  return true;
}

} // namespace kg::ptx_run
