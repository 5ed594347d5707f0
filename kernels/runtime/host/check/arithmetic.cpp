// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The handlers that -fsanitize=bounds, signed-integer-overflow, shift, integer-divide-by-zero and,
// optionally, float-divide-by-zero and float-cast-overflow call after an error (layouts as in
// LLVM's compiler-rt, ubsan_handlers.h).
#include "runtime/host/check/checker.h"

#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace {

struct Place {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
};
constexpr std::uint16_t kFloatingPoint = 1;
struct Type {
  std::uint16_t kind; // 0: integer, or kFloatingPoint
  std::uint16_t
      info;     // integer: lowest bit set if signed, the other bits log2 of the width; float: width
  char name[1]; // in quotes
};
struct IndexData {
  Place place;
  const Type* array;
  const Type* index;
};
struct OverflowData {
  Place place;
  const Type* type;
};
struct ShiftData {
  Place place;
  const Type* left;
  const Type* right;
};

struct CastData {
  Place place;
  const Type* from;
  const Type* to;
};

// A value of up to 64 bits is passed directly, a wider one by address.
std::string text(const Type& type, std::uintptr_t value) {
  if (type.kind == kFloatingPoint) {
    if (type.info == 32)
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    if (type.info == 64) return fmt::format("{}", std::bit_cast<double>(value));
    return fmt::format("a {}-bit number", type.info);
  }
  const unsigned bits = 1u << (type.info >> 1);
  if (bits > 64) return "a 128-bit number";
  if ((type.info & 1) == 0) return std::to_string(value);
  const unsigned unused = 64 - bits;
  return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
}

void overflow(const OverflowData& data, const std::string& expression, const void* instruction) {
  kg::check::the_checker().arithmetic(
      fmt::format("signed overflow: {} does not fit into {}", expression, data.type->name),
      instruction);
}

} // namespace

extern "C" {

void __ubsan_handle_out_of_bounds(IndexData* data, std::uintptr_t index) {
  kg::check::the_checker().index_out_of_bounds(
      fmt::format("index {} of an array {}", text(*data->index, index), data->array->name),
      __builtin_return_address(0));
}
void __ubsan_handle_add_overflow(OverflowData* data, std::uintptr_t a, std::uintptr_t b) {
  overflow(*data, text(*data->type, a) + " + " + text(*data->type, b), __builtin_return_address(0));
}
void __ubsan_handle_sub_overflow(OverflowData* data, std::uintptr_t a, std::uintptr_t b) {
  overflow(*data, text(*data->type, a) + " - " + text(*data->type, b), __builtin_return_address(0));
}
void __ubsan_handle_mul_overflow(OverflowData* data, std::uintptr_t a, std::uintptr_t b) {
  overflow(*data, text(*data->type, a) + " * " + text(*data->type, b), __builtin_return_address(0));
}
void __ubsan_handle_negate_overflow(OverflowData* data, std::uintptr_t a) {
  overflow(*data, "-(" + text(*data->type, a) + ")", __builtin_return_address(0));
}
void __ubsan_handle_divrem_overflow(OverflowData* data, std::uintptr_t a, std::uintptr_t b) {
  const std::string what = "division: " + text(*data->type, a) + " / " + text(*data->type, b);
  const void* const instruction = __builtin_return_address(0);
  if (data->type->kind == kFloatingPoint)
    kg::check::the_checker().arithmetic(what, instruction);
  else // an x86 CPU would trap at the division itself
    kg::check::the_checker().trapping_arithmetic(what, instruction);
}
void __ubsan_handle_float_cast_overflow(CastData* data, std::uintptr_t value) {
  kg::check::the_checker().arithmetic(
      fmt::format("conversion: {} does not fit into {}; CUDA leaves the result undefined (a GPU "
                  "gives the nearest value, and 0 for NaN; a CPU something else)",
                  text(*data->from, value), data->to->name),
      __builtin_return_address(0));
}
void __ubsan_handle_shift_out_of_bounds(ShiftData* data, std::uintptr_t a, std::uintptr_t b) {
  kg::check::the_checker().arithmetic(fmt::format("shift: {} of type {} by {}",
                                                  text(*data->left, a), data->left->name,
                                                  text(*data->right, b)),
                                      __builtin_return_address(0));
}

} // extern "C"
