// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A form of an instruction of PTX (its opcode, as "cvt.rzi.s32.f32"), a kernel of a few lines that
// executes it for many operands, and what the PTX ISA says that it gives, written without a look at
// the executor's translator (runtime/ptx). The table of them (table.h) is run on the executor and
// on GPUs alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kg::test::snippets {

// An operand of a lane, in the low bits of a word.
using Word = std::uint64_t;
inline constexpr unsigned kLanes = 32; // a block is one warp

// What a lane must get.
struct Wanted {
  Word bits = 0;
  bool specified = true; // where the ISA says nothing, anything is right
  double error = 0;      // of an approximation: how far it may be from `exact`
  double exact = 0;
};

// The operands of the lanes of a warp, or of a cluster of them, one after another, each lane's in
// order; likewise the results.
using Oracle = std::function<void(const Word* in, Wanted* out)>;

struct Snippet {
  std::string form;
  std::string body;                // of the kernel: registers %i0, %i1, ... to %o0, %o1, ...
  std::vector<std::string> inputs; // types of PTX: "s32", "f16x2", "pred", ...
  std::vector<std::string> outputs;
  Oracle oracle;
  // All combinations of the special values of each operand's type, where these are few enough, and
  // random bits; or what this gives for a lane, counted over all warps.
  std::function<Word(std::size_t lane, std::size_t input, std::uint64_t random)> operand = nullptr;
  bool canonical_nan = false;   // it is known which NaN it gives; else one is as good as another
  std::size_t shared_bytes = 0; // of an array %tile
  std::string functions;        // before the kernel
  int target = 80;              // the least architecture that has it
  unsigned cluster = 1;         // blocks, which are warps
};

// A snippet of a whole warp: lanes' operands and results as words.
Snippet of_warp(const std::string& form, std::vector<std::string> inputs,
                std::vector<std::string> outputs, const std::string& body,
                std::function<Word(const std::function<std::uint32_t(unsigned, std::size_t)>& in,
                                   unsigned lane, std::size_t output)>
                    result);

// Of arithmetic on f32: the one NaN that it gives is 0x7fffffff. The PTX ISA leaves it open; it is
// CUDA's programming guide that says so (1.1, A.2: "0x7fffffff"), and an H200 that does so.
Snippet with_one_nan(Snippet snippet);

// The text of a module with the kernels of some snippets, each named `kernel_name`.
std::string module_of(const std::vector<const Snippet*>& snippets);
std::string kernel_name(const Snippet& snippet);

// The operands of whole warps.
std::vector<Word> operands_of(const Snippet& snippet);

// What is wrong with a lane's results, in words; empty: nothing. `differing` counts the approximate
// results within their bounds that are another value than the nearest.
std::string complaint(const Snippet& snippet, const Word* in, const Word* out, const Wanted* wanted,
                      std::size_t& differing);

// --- A snippet from a function of its operands' values

struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};
template <class Half>
struct Pair { // the first in the low bits
  Half low, high;
};
// An f32 within an error of the exact value.
struct Within {
  double exact;
  double error;
};

template <class T>
struct Type;
template <class T>
struct PlainType {
  static T of(Word word) {
    T value;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
  }
  static Wanted wanted(T value) {
    Wanted result;
    __builtin_memcpy(&result.bits, &value, sizeof value);
    return result;
  }
};
#define KG_SNIPPET_TYPE(T, ptx)                                                                    \
  template <>                                                                                      \
  struct Type<T> : PlainType<T> {                                                                  \
    static constexpr const char* name = ptx;                                                       \
  }
KG_SNIPPET_TYPE(std::uint8_t, "u8");
KG_SNIPPET_TYPE(std::uint16_t, "u16");
KG_SNIPPET_TYPE(std::uint32_t, "u32");
KG_SNIPPET_TYPE(std::uint64_t, "u64");
KG_SNIPPET_TYPE(std::int8_t, "s8");
KG_SNIPPET_TYPE(std::int16_t, "s16");
KG_SNIPPET_TYPE(std::int32_t, "s32");
KG_SNIPPET_TYPE(std::int64_t, "s64");
KG_SNIPPET_TYPE(float, "f32");
KG_SNIPPET_TYPE(double, "f64");
KG_SNIPPET_TYPE(F16, "f16");
KG_SNIPPET_TYPE(BF16, "bf16");
KG_SNIPPET_TYPE(Pair<F16>, "f16x2");
KG_SNIPPET_TYPE(Pair<BF16>, "bf16x2");
#undef KG_SNIPPET_TYPE
template <>
struct Type<bool> {
  static constexpr const char* name = "pred";
  static bool of(Word word) { return (word & 1) != 0; }
  static Wanted wanted(bool value) { return {.bits = static_cast<Word>(value)}; }
};
template <>
struct Type<Within> {
  static constexpr const char* name = "f32";
  static Wanted wanted(const Within& value);
};

// Of a function's result: one value, several of a type, or perhaps none that is specified.
template <class R>
struct Results {
  static std::vector<std::string> types() { return {Type<R>::name}; }
  static void put(const R& value, Wanted* out) { *out = Type<R>::wanted(value); }
};
template <class R>
struct Results<std::optional<R>> {
  static std::vector<std::string> types() { return {Type<R>::name}; }
  static void put(const std::optional<R>& value, Wanted* out) {
    *out = value ? Type<R>::wanted(*value) : Wanted{.specified = false};
  }
};
template <class R, std::size_t n>
struct Results<std::array<R, n>> {
  static std::vector<std::string> types() { return std::vector<std::string>(n, Type<R>::name); }
  static void put(const std::array<R, n>& values, Wanted* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = Type<R>::wanted(values[i]);
  }
};
template <class First, class Second>
struct Results<std::pair<First, Second>> {
  static std::vector<std::string> types() { return {Type<First>::name, Type<Second>::name}; }
  static void put(const std::pair<First, Second>& values, Wanted* out) {
    out[0] = Type<First>::wanted(values.first);
    out[1] = Type<Second>::wanted(values.second);
  }
};

template <class R, class... A, std::size_t... i>
Oracle lane_by_lane(std::function<R(A...)> function, std::index_sequence<i...>) {
  return [function](const Word* in, Wanted* out) {
    const std::size_t results = Results<R>::types().size();
    for (unsigned lane = 0; lane < kLanes; ++lane)
      Results<R>::put(function(Type<A>::of(in[lane * sizeof...(A) + i])...), out + lane * results);
  };
}

template <class R, class... A>
Snippet snippet_of(const std::string& form, const std::string& body,
                   std::function<R(A...)> function) {
  Snippet result;
  result.form = form;
  result.body = body;
  result.inputs = {Type<A>::name...};
  result.outputs = Results<R>::types();
  result.oracle = lane_by_lane(std::move(function), std::index_sequence_for<A...>{});
  return result;
}

// snippet("add.s32", [](std::int32_t a, std::int32_t b) { return ...; }): the types of operands and
// results are the function's. Without a body it is the instruction itself, results first.
template <class Function>
Snippet snippet(const std::string& form, const Function& function, std::string body = "") {
  Snippet result = snippet_of(form, body, std::function(function));
  if (body.empty()) {
    result.body = form;
    const char* separator = " ";
    for (std::size_t i = 0; i < result.outputs.size(); ++i, separator = ", ")
      result.body += separator + ("%o" + std::to_string(i));
    for (std::size_t i = 0; i < result.inputs.size(); ++i, separator = ", ")
      result.body += separator + ("%i" + std::to_string(i));
    result.body += ";";
  }
  return result;
}

} // namespace kg::test::snippets
