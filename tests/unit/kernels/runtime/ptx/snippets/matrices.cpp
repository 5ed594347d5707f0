// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "Warp Level Matrix Instructions": ldmatrix and mma. Where an element of a matrix lies in
// the lanes' registers is written down here from the ISA's formulas for each shape, apart from the
// executor. The elements are such that products and their sums are exact in any order of additions;
// special values come alone, in rows of their own.
#include "tests/unit/kernels/runtime/ptx/snippets/exact.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <bit>
#include <cmath>

namespace kg::test::snippets {
namespace {

using u32 = std::uint32_t;

std::string registers(const std::string& name, std::size_t begin, std::size_t end) {
  std::string list;
  for (std::size_t i = begin; i < end; ++i)
    list += (i == begin ? "" : ", ") + ("%" + name) + std::to_string(i);
  return "{" + list + "}";
}

// Rows of 16 bytes: each lane stores its own two words, then names a row. Row r of matrix m is the
// one that lane 8 m + r names; lane l of the result has elements 2 (l % 4) and the next of row l /
// 4, transposed: of column l / 4.
void add_loads(Table& table) {
  for (const std::size_t count : {1, 2, 4})
    for (const bool transposed : {false, true}) {
      const std::string form = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                               (transposed ? ".trans" : "") + ".shared.b16";
      Snippet made;
      made.form = form;
      made.inputs = {"u64", "u64"};
      made.outputs = std::vector<std::string>(count, "u32");
      made.shared_bytes = 16 * kLanes;
      // The rows stand in another order than the lanes.
      made.body = "mov.u32 %r1, tile; shl.b32 %r2, %lane, 4; xor.b32 %r2, %r2, 80; "
                  "add.s32 %r3, %r1, %r2; st.shared.v2.b64 [%r3], {%i0, %i1}; bar.sync 0; " +
                  form + " " + registers("o", 0, count) + ", [%r3];";
      made.oracle = [=](const Word* in, Wanted* out) {
        const auto element = [&](std::size_t matrix, std::size_t row, std::size_t column) {
          const Word* const words = in + 2 * (8 * matrix + row);
          return static_cast<u32>(words[column / 4] >> 16 * (column % 4) & 0xffff);
        };
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          for (std::size_t m = 0; m < count; ++m) {
            const std::size_t line = lane / 4, first = 2 * (lane % 4);
            out[lane * count + m].bits =
                transposed ? element(m, first, line) | element(m, first + 1, line) << 16
                           : element(m, line, first) | element(m, line, first + 1) << 16;
          }
      };
      table.push_back(made);
    }
}

// An element's value from a register, and a register of small numbers from random bits.
struct ElementType {
  const char* name;
  std::size_t per_register;
  double (*value)(u32 word, std::size_t part);
  u32 (*word)(std::uint64_t random);
};
int small(std::uint64_t random) { return static_cast<int>(random % 9) - 4; }
const ElementType kOfHalf = {
    "f16", 2,
    [](u32 word, std::size_t part) {
      return value_of(static_cast<std::uint16_t>(word >> 16 * part), kHalf);
    },
    [](std::uint64_t random) {
      return u32{bits_of(small(random), kHalf)} | u32{bits_of(small(random >> 20), kHalf)} << 16;
    }};
const ElementType kOfBrain = {
    "bf16", 2,
    [](u32 word, std::size_t part) {
      return value_of(static_cast<std::uint16_t>(word >> 16 * part), kBrain);
    },
    [](std::uint64_t random) {
      return u32{bits_of(small(random), kBrain)} | u32{bits_of(small(random >> 20), kBrain)} << 16;
    }};
const ElementType kOfTf32 = {
    "tf32", 1,
    [](u32 word, std::size_t) { return static_cast<double>(std::bit_cast<float>(word)); },
    [](std::uint64_t random) {
      return std::bit_cast<u32>(static_cast<float>(small(random)) * 0.25f);
    }};

// Every pattern; sums wrap around.
const ElementType kOfByte = {"s8", 4,
                             [](u32 word, std::size_t part) {
                               return static_cast<double>(
                                   static_cast<std::int8_t>(word >> 8 * part));
                             },
                             [](std::uint64_t random) { return static_cast<u32>(random); }};

// m16n8k<depth>: with g = lane / 4 and t = lane % 4, and p elements per register,
//   a: register r has row g + 8 (r % 2) and columns p t + p 4 (r / 2) and on;
//   b: register r has column g and rows p t + p 4 r and on;
//   sum: register r has row g + 8 (r / 2) and column 2 t + r % 2.
void add_product(Table& table, const ElementType& of, std::size_t depth) {
  const std::size_t p = of.per_register, a_registers = depth * 16 / kLanes / p,
                    b_registers = depth * 8 / kLanes / p;
  const bool integers = p == 4;
  const std::string of_sum = integers ? "s32" : "f32";
  Snippet made;
  made.form = "mma.sync.aligned.m16n8k" + std::to_string(depth) + ".row.col." + of_sum + "." +
              of.name + "." + of.name + "." + of_sum;
  made.inputs = std::vector<std::string>(a_registers + b_registers, "u32");
  made.inputs.insert(made.inputs.end(), 4, of_sum);
  made.outputs = std::vector<std::string>(4, of_sum);
  const std::size_t inputs = made.inputs.size();
  made.body = made.form + " " + registers("o", 0, 4) + ", " + registers("i", 0, a_registers) +
              ", " + registers("i", a_registers, a_registers + b_registers) + ", " +
              registers("i", inputs - 4, inputs) + ";";
  made.operand = [=](std::size_t at, std::size_t i, std::uint64_t random) -> Word {
    const std::size_t lane = at % kLanes;
    if (integers) return static_cast<u32>(random);
    if (i >= inputs - 4) return std::bit_cast<u32>(static_cast<float>(small(random)));
    // Row 5 of a now and then holds an infinity, row 11 a NaN.
    if (i < a_registers && lane == 21 && i % 2 == 0 && random % 4 == 0)
      return std::string(of.name) == "f16" ? 0x7c000000u : 0x7f800000u;
    if (i < a_registers && lane == 12 && i % 2 == 1 && random % 4 == 0)
      return std::string(of.name) == "f16" ? 0x7e000000u : 0x7fc00000u;
    return of.word(random >> 8);
  };
  made.oracle = [=](const Word* in, Wanted* out) {
    std::vector<double> a(16 * depth), b(depth * 8), sum(16 * 8);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t g = lane / 4, t = lane % 4;
      const auto word = [&](std::size_t i) { return static_cast<u32>(in[lane * inputs + i]); };
      for (std::size_t r = 0; r < a_registers; ++r)
        for (std::size_t k = 0; k < p; ++k)
          a[(g + 8 * (r % 2)) * depth + p * t + p * 4 * (r / 2) + k] = of.value(word(r), k);
      for (std::size_t r = 0; r < b_registers; ++r)
        for (std::size_t k = 0; k < p; ++k)
          b[(p * t + p * 4 * r + k) * 8 + g] = of.value(word(a_registers + r), k);
      for (std::size_t r = 0; r < 4; ++r)
        sum[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2] =
            integers ? static_cast<double>(static_cast<std::int32_t>(word(inputs - 4 + r)))
                     : static_cast<double>(std::bit_cast<float>(word(inputs - 4 + r)));
    }
    for (std::size_t row = 0; row < 16; ++row)
      for (std::size_t column = 0; column < 8; ++column)
        for (std::size_t k = 0; k < depth; ++k)
          sum[row * 8 + column] += a[row * depth + k] * b[k * 8 + column];
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      for (std::size_t r = 0; r < 4; ++r) {
        const double result = sum[(lane / 4 + 8 * (r / 2)) * 8 + 2 * (lane % 4) + r % 2];
        if (integers)
          out[lane * 4 + r].bits = static_cast<u32>(static_cast<std::int64_t>(result));
        else
          out[lane * 4 + r] = Type<float>::wanted(static_cast<float>(result));
      }
  };
  table.push_back(integers ? made : with_one_nan(made));
}

} // namespace

void add_matrices(Table& table) {
  add_loads(table);
  add_product(table, kOfHalf, 8);
  add_product(table, kOfHalf, 16);
  add_product(table, kOfBrain, 16);
  add_product(table, kOfTf32, 8);
  add_product(table, kOfByte, 32);
}

} // namespace kg::test::snippets
