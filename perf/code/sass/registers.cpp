// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/registers.h"

#include "perf/code/sass/products.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

namespace kg::sass {
namespace {

constexpr int kRegisterBytes = 4;

bool is_predicate(std::string_view operand) {
  if (operand.starts_with('U')) operand.remove_prefix(1);
  return operand.size() == 2 && operand[0] == 'P' &&
         (std::isdigit(static_cast<unsigned char>(operand[1])) != 0 || operand[1] == 'T');
}

// Instructions without a result in registers, including loads to shared memory (LDGSTS, bulk
// copies).
bool has_result(const Instruction& instruction) {
  constexpr std::string_view kNone[] = {
      "ST",      "STG",          "STS",         "STL",        "STSM",  "STAS",      "RED",
      "REDG",    "REDAS",        "LDGSTS",      "BRA",        "BRX",   "JMP",       "EXIT",
      "BAR",     "BSSY",         "BSYNC",       "BREAK",      "NOP",   "MEMBAR",    "DEPBAR",
      "CALL",    "RET",          "WARPSYNC",    "CCTL",       "CCTLL", "LDGDEPBAR", "FENCE",
      "UBLKCP",  "UBLKPF",       "UTMALDG",     "UTMASTG",    "YIELD", "NANOSLEEP", "ERRBAR",
      "ARRIVES", "SYNCS",        "WARPGROUP",   "WARPARRIVE", "KILL",  "R2UR",      "BMOV",
      "R2P",     "UTMAREDG",     "UTMAPF",      "UTMACCTL",   "SUST",  "UBLKRED",   "CGAERRBAR",
      "BGMMA",   "WARPGROUPSET", "UTMACMDFLUSH"};
  return std::find(std::begin(kNone), std::end(kNone), instruction.opcode) == std::end(kNone);
}

bool is_f64(const Instruction& instruction) {
  constexpr std::string_view kOpcodes[] = {"DADD", "DFMA", "DMUL", "DSETP", "DMMA"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), instruction.opcode) !=
         std::end(kOpcodes);
}

bool is_64_bit(std::string_view modifier) {
  return modifier == "F64" || modifier == "S64" || modifier == "U64";
}

bool is_between_types(const Instruction& instruction) {
  constexpr std::string_view kOpcodes[] = {"F2F", "F2I", "I2F", "I2I", "FRND"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), instruction.opcode) !=
         std::end(kOpcodes);
}

// Registers of HMMA.16816.F32: accumulator and result, A, and B. Fragments by the PTX ISA, section
// on mma: a warp holds each matrix once.
struct Fragments {
  int sum, a, b;
};
Fragments fragments_of(const Instruction& instruction) {
  const int sum = instruction.has("F16") && !instruction.has("F32") ? 2 : 4;
  if (instruction.has("16816") || instruction.has("16832") || instruction.has("168256"))
    return {sum, 4, 2};
  if (instruction.has("1688") && instruction.has("TF32")) return {sum, 4, 2};
  return {sum, 2, 1};
}

int words(int bytes) { return std::max(1, bytes / kRegisterBytes); }

int written_words(const Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (opcode.starts_with("LD") || opcode.starts_with("ATOM"))
    return words(bytes_moved(instruction));
  if (opcode == "CS2R") return instruction.has("32") ? 1 : 2;
  if (opcode == "IMAD" || opcode == "IDP") return instruction.has("WIDE") ? 2 : 1;
  if (opcode == "HMMA" || opcode == "IMMA") return fragments_of(instruction).sum;
  if (const auto product = product_of(instruction)) return product->sum_registers();
  if (is_f64(instruction)) return opcode == "DMMA" ? 4 : 2;
  // The result's type comes first: F2F.F64.F32, I2F.F64, F2I.S64.F32.
  if (is_between_types(instruction)) {
    const auto type = std::find_if(instruction.modifiers.begin(), instruction.modifiers.end(),
                                   [](const std::string& one) { return one != "FTZ"; });
    return type != instruction.modifiers.end() && is_64_bit(*type) ? 2 : 1;
  }
  return 1;
}

// Number of registers of source operand `source`, from 0.
int read_words(const Instruction& instruction, std::size_t source) {
  const std::string& opcode = instruction.opcode;
  if (opcode.starts_with("ST") || opcode.starts_with("RED") || opcode.starts_with("ATOM"))
    return words(bytes_moved(instruction));
  if (opcode == "IMAD") return instruction.has("WIDE") && source == 2 ? 2 : 1;
  if (opcode == "HMMA" || opcode == "IMMA") {
    const Fragments fragments = fragments_of(instruction);
    return source == 0 ? fragments.a : source == 1 ? fragments.b : fragments.sum;
  }
  // A or its descriptor, B's descriptor, then the accumulators.
  if (const auto product = product_of(instruction))
    return source == 0 && product->a_in_registers ? product->a_registers()
                                                  : product->sum_registers();
  if (is_f64(instruction)) return 2;
  if (is_between_types(instruction))
    return std::count_if(instruction.modifiers.begin(), instruction.modifiers.end(), is_64_bit) >
                   (written_words(instruction) == 2 ? 1 : 0)
               ? 2
               : 1;
  return 1;
}

// Appends the registers that `operand` names, and for wide ones their successors: "-R4.H0", "|R5|",
// "desc[UR4][R4.64+0x800]", "c[0x0][R2]".
void append(std::vector<int>& registers, std::string_view operand, int width) {
  const bool address = operand.find('[') != operand.npos;
  for (std::size_t at = 0; at < operand.size(); ++at) {
    const bool begins =
        at == 0 || (std::isalnum(static_cast<unsigned char>(operand[at - 1])) == 0 &&
                    operand[at - 1] != '_' && operand[at - 1] != '.');
    if (operand[at] != 'R' || !begins) continue;
    int number = 0;
    const char* const from = operand.data() + at + 1;
    const auto [end, error] = std::from_chars(from, operand.data() + operand.size(), number);
    if (error != std::errc()) continue; // RZ
    const std::string_view rest(end,
                                static_cast<std::size_t>(operand.data() + operand.size() - end));
    const int wide = !address ? width : rest.starts_with(".64") ? 2 : 1;
    for (int i = 0; i < wide; ++i) registers.push_back(number + i);
  }
}

// How many of the first operands are results: a register, predicates, or both. IADD3 R4, P0, ...
// carries out into P0. ISETP has two predicates. SHFL PT, R5, ... and LOP3 P0, RZ, ... name the
// predicate first.
std::size_t results_of(const Instruction& instruction) {
  if (!has_result(instruction)) return 0;
  const auto& operands = instruction.operands;
  std::size_t count = std::min<std::size_t>(1, operands.size());
  while (count > 0 && count < operands.size() && is_predicate(operands[count])) ++count;
  constexpr std::string_view kBoth[] = {"SHFL", "LOP3", "ATOM", "ATOMG", "ATOMS", "ELECT"};
  const bool both =
      std::find(std::begin(kBoth), std::end(kBoth), instruction.opcode) != std::end(kBoth);
  if (both && count == 1 && operands.size() > 1 && is_predicate(operands[0])) ++count;
  return count;
}

} // namespace

int bytes_moved(const Instruction& access) {
  if (access.opcode == "LDSM" || access.opcode == "STSM") // 8x8 matrices of 16-bit elements
    return kRegisterBytes * (access.has("4") ? 4 : access.has("2") ? 2 : 1);
  if (access.has("256") || access.has("ENL2")) return 32;
  if (access.has("128")) return 16;
  if (access.has("64")) return 8;
  if (access.has("U16") || access.has("S16")) return 2;
  if (access.has("U8") || access.has("S8")) return 1;
  return 4;
}

Registers registers_of(const Instruction& instruction) {
  Registers found;
  const std::size_t results = results_of(instruction);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i < results && is_predicate(instruction.operands[i]))
      found.predicates.push_back(instruction.operands[i]);
    else if (i < results)
      append(found.written, instruction.operands[i], written_words(instruction));
    else
      append(found.read, instruction.operands[i], read_words(instruction, i - results));
  }
  return found;
}

} // namespace kg::sass
