// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/pipes.h"

#include "perf/code/sass/products.h"
#include "perf/code/sass/registers.h"
#include "perf/code/timing_model/model.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace kg::sass {
namespace {

struct Group {
  Pipe pipe;
  double clocks; // per warp, on one scheduler's share of the pipe
  std::string_view opcodes;
};

// Opcodes: CUDA Binary Utilities 13, tables of the Turing, Ampere and Hopper instruction sets.
// Pipes: Nsight Compute, Kernel Profiling Guide, section Pipelines; its ADU, CBU and branch unit
// are `control` here. Cycles: CUDA C++ Programming Guide 13, table Throughput of Native Arithmetic
// Instructions, column 9.0: 32 lanes over a quarter of the results per cycle. Unlisted instructions
// take one cycle, for their issue. Rates holds the cycles that differ between GPUs.
constexpr Group kGroups[] = {
    {Pipe::fma, 1, "FADD FFMA FMUL FADD32I FFMA32I FMUL32I FSWZADD"},
    {Pipe::fma, 2, "IMAD IMUL IDP IDP4A IMUL32I"},
    {Pipe::half, 1,
     "HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HSET2 HSETP2 HMNMX2 VHMNMX HFMA2_MMA"},
    {Pipe::alu, 2,
     "BMSK FCHK FMNMX FSEL FSET FSETP F2FP F2IP I2FP I2IP IABS IADD IADD3 IADD32I IMNMX ISCADD "
     "ISCADD32I ISETP LEA LOP LOP3 LOP32I MOV MOV32I P2R PLOP3 PRMT PSETP R2P R2R SEL SGXT SHF SHL "
     "SHR VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3 VOTE MOVM"},
    {Pipe::f64, 2, "DADD DFMA DMUL DSETP DMNMX"},
    {Pipe::xu, 8, "MUFU POPC FLO BREV"},
    {Pipe::xu, 2, "F2F F2I I2F I2I FRND"},
    // 32 addresses per cycle and multiprocessor; wider accesses at 128 bytes per cycle.
    {Pipe::lsu, 4,
     "LD LDG LDGSTS LDL LDS LDSM ST STG STL STS STSM STAS ATOM ATOMG ATOMS RED REDG REDAS SHFL "
     "MATCH REDUX CREDUX CCTL CCTLL CCTLT MEMBAR QSPC"},
    {Pipe::lsu, 4, "TEX TLD TLD4 TXD TXQ TMML FOOTPRINT SULD SUST SURED SUATOM SUQUERY"},
    {Pipe::tensor, 0, "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA"},
    {Pipe::uniform, 1,
     "R2UR S2UR UBLKCP UBLKPF UBLKRED UBMSK UBREV UCLEA UF2FP UFLO UIADD3 UIADD3_64 UIMAD UIMNMX "
     "UISETP ULDC ULEA ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP UR2UP URED USEL "
     "USETMAXREG USGXT USHF USHL USHR UTMACCTL UTMACMDFLUSH UTMALDG UTMAPF UTMAREDG UTMASTG "
     "UVIRTCOUNT "
     "VOTEU UCGABAR_ARV UCGABAR_WAIT"},
    {Pipe::control, 1,
     "ACQBULK ARRIVES B2R BAR BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL CGAERRBAR CS2R CS2UR "
     "DEPBAR "
     "ELECT ENDCOLLECTIVE ERRBAR EXIT FENCE GETLMEMBASE JMP JMX JMXU KILL LDC LDGDEPBAR LEPC "
     "NANOSLEEP NOP PMTRIG PREEXIT R2B RET RPCMOV S2R SETCTAID SETLMEMBASE SYNCS WARPARRIVE "
     "WARPGROUP WARPGROUPSET WARPSYNC YIELD"}};

const Group* group_of(std::string_view opcode) {
  static const auto groups = [] {
    std::map<std::string_view, const Group*> found;
    for (const Group& group : kGroups)
      for (std::string_view rest = group.opcodes; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        found.emplace(rest.substr(0, end), &group);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    return found;
  }();
  const auto at = groups.find(opcode);
  return at == groups.end() ? nullptr : at->second;
}

bool is_one_of(std::string_view opcode, std::initializer_list<std::string_view> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
}

// Modelled cycles of one scheduler's Tensor Core for wgmma: at the peak rate, or as long as shared
// memory takes to deliver the operands, at 128 bytes per cycle. 64 x 256 x 16 takes 128 cycles by
// either. From N = 64 on, N / 2 cycles; below, A's bytes take longer.
double product_clocks(const Product& product, const Instruction& instruction, const Rates& rates) {
  constexpr double kSharedBytes = 128; // per cycle and multiprocessor (H100 whitepaper)
  return std::max(matrix_clocks(instruction, rates), product.shared_bytes() / kSharedBytes);
}

} // namespace

double matrix_operations(const Instruction& instruction) {
  if (const auto product = product_of(instruction)) return product->operations();
  if (instruction.opcode != "HMMA") return 0;
  return instruction.has("16816")                             ? 4096
         : instruction.has("1688")                            ? 2048
         : instruction.has("1684") && instruction.has("TF32") ? 1024
                                                              : 0;
}

// HMMA: m16n8k16 is 4,096 operations. A scheduler's Tensor Core executes 1,024 per cycle on Hopper
// (H100 whitepaper); mma.sync reaches 62.9 % of that (arXiv 2402.13499, section on tensor cores).
// wgmma is assumed at the whitepaper's peak: 989.4 TFLOP/s of 132 multiprocessors at 1,830 MHz are
// 4,096 per cycle; half of that in TF32, twice in 8-bit types.
double matrix_clocks(const Instruction& instruction, const Rates& rates) {
  const double operations = matrix_operations(instruction);
  if (const auto product = product_of(instruction))
    return operations / (product->element_bits == 32  ? rates.warpgroup_tf32
                         : product->element_bits == 8 ? 2 * rates.warpgroup_16bit
                                                      : rates.warpgroup_16bit);
  return operations / (instruction.has("TF32") ? rates.matrix_tf32 : rates.matrix_16bit);
}

std::string_view name(Pipe pipe) {
  constexpr std::string_view kNames[kPipes] = {"fma", "alu",    "half",    "f64",     "xu",
                                               "lsu", "tensor", "uniform", "control", "unknown"};
  return kNames[static_cast<int>(pipe)];
}

Pipe pipe_of(const Instruction& instruction) {
  const Group* const group = group_of(instruction.opcode);
  if (group == nullptr) return Pipe::unknown;
  // HFMA2.MMA runs on the same pipe as FFMA.
  return group->pipe == Pipe::half && instruction.has("MMA") ? Pipe::fma : group->pipe;
}

Rates rates_of(const model::Gpu& gpu) {
  // One FMA of a warp, on a quarter of the multiprocessor; two halves at a time.
  const double flops = 2 * model::kLanes * model::kSchedulers;
  const auto matrix = [&](const char* type, double share) {
    const auto found = gpu.matrix_flops_per_s.find(type);
    return found == gpu.matrix_flops_per_s.end()
               ? std::numeric_limits<double>::infinity()
               : share * found->second / gpu.clock_hz / model::kSchedulers;
  };
  return {flops * gpu.clock_hz / gpu.f32_flops_per_s,
          2 * flops * gpu.clock_hz / gpu.f16_flops_per_s,
          flops * gpu.clock_hz / gpu.f64_flops_per_s,
          model::kLanes * model::kSchedulers / gpu.lsu_lanes,
          matrix("f16", gpu.mma_share),
          matrix("tf32", gpu.mma_share),
          matrix("f16", 1),
          matrix("tf32", 1)};
}

double clocks_of(const Instruction& instruction, const Rates& rates) {
  const Group* const group = group_of(instruction.opcode);
  if (group == nullptr) return 0;
  switch (group->pipe) {
  case Pipe::tensor:
    if (const auto product = product_of(instruction))
      return product_clocks(*product, instruction, rates);
    return matrix_clocks(instruction, rates);
  case Pipe::lsu:
    return space_of(instruction) == Space::none
               ? rates.lsu
               : std::max<double>(rates.lsu, bytes_moved(instruction));
  case Pipe::fma: return group->clocks == 1 ? rates.fma : group->clocks;
  case Pipe::half: return rates.half;
  case Pipe::f64: return rates.f64;
  default: return group->clocks;
  }
}

Space space_of(const Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (is_one_of(opcode, {"LDG", "STG", "LDGSTS", "ATOMG", "RED", "REDG"})) return Space::global;
  if (is_one_of(opcode, {"LDS", "STS", "LDSM", "STSM", "ATOMS", "STAS", "REDAS"}))
    return Space::shared;
  if (is_one_of(opcode, {"LDL", "STL"})) return Space::local;
  if (is_one_of(opcode, {"LDC", "ULDC"})) return Space::constant;
  if (is_one_of(opcode, {"LD", "ST", "ATOM"})) return Space::generic;
  return Space::none;
}

bool is_load(const Instruction& access) {
  return space_of(access) != Space::none && !is_store(access);
}

bool is_store(const Instruction& access) {
  return space_of(access) != Space::none &&
         (access.opcode.starts_with("ST") || access.opcode.starts_with("RED"));
}

bool is_conversion(const Instruction& instruction) {
  if (is_one_of(instruction.opcode, {"F2F", "F2FP", "F2I", "F2IP", "I2F", "I2FP", "I2I", "I2IP"}))
    return true;
  const auto& operands = instruction.operands;
  // bf16 to f32 is a shift by 16: IMAD.U32 R5, R4, 0x10000, RZ, or LOP3 with 0xffff0000, or PRMT;
  // f16 to f32 is HADD2.F32 R5, -RZ, R4.H0_H0.
  const auto is = [&](std::size_t at, std::string_view text) {
    return at < operands.size() && operands[at] == text;
  };
  return (instruction.opcode == "IMAD" && is(2, "0x10000") && is(3, "RZ")) ||
         (instruction.opcode == "SHF" && instruction.has("L") && is(2, "0x10") && is(3, "RZ")) ||
         (instruction.opcode == "LOP3" && is(2, "0xffff0000") && is(3, "RZ")) ||
         (instruction.opcode == "HADD2" && instruction.has("F32") && is(1, "-RZ")) ||
         (instruction.opcode == "PRMT" && (is(2, "0x7632") || is(2, "0x5410") || is(2, "0x7610")));
}

} // namespace kg::sass
