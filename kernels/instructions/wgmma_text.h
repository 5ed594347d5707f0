// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of wgmma's instructions for nvcc (wgmma.h). Inline assembly names every register, so
// each number of registers needs its own statement. FORM(words, N, numbers of the seven operands
// after the sums, ...) is one such statement.
#pragma once

#define KG_WGMMA_NAMES_2 "%0, %1"
#define KG_WGMMA_NAMES_4 KG_WGMMA_NAMES_2 ", %2, %3"
#define KG_WGMMA_NAMES_8 KG_WGMMA_NAMES_4 ", %4, %5, %6, %7"
#define KG_WGMMA_NAMES_16 KG_WGMMA_NAMES_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define KG_WGMMA_NAMES_24 KG_WGMMA_NAMES_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define KG_WGMMA_NAMES_32 KG_WGMMA_NAMES_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define KG_WGMMA_NAMES_48                                                                          \
  KG_WGMMA_NAMES_32                                                                                \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define KG_WGMMA_NAMES_64                                                                          \
  KG_WGMMA_NAMES_48                                                                                \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define KG_WGMMA_NAMES_96                                                                          \
  KG_WGMMA_NAMES_64                                                                                \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, "        \
  "%81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define KG_WGMMA_NAMES_128                                                                         \
  KG_WGMMA_NAMES_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, " \
                    "%109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, "     \
                    "%121, %122, %123, %124, %125, %126, %127"

#define KG_WGMMA_SUMS_2(C, i) C(sums[i]), C(sums[(i) + 1])
#define KG_WGMMA_SUMS_4(C, i) KG_WGMMA_SUMS_2(C, i), KG_WGMMA_SUMS_2(C, (i) + 2)
#define KG_WGMMA_SUMS_8(C, i) KG_WGMMA_SUMS_4(C, i), KG_WGMMA_SUMS_4(C, (i) + 4)
#define KG_WGMMA_SUMS_16(C, i) KG_WGMMA_SUMS_8(C, i), KG_WGMMA_SUMS_8(C, (i) + 8)
#define KG_WGMMA_SUMS_24(C, i) KG_WGMMA_SUMS_16(C, i), KG_WGMMA_SUMS_8(C, (i) + 16)
#define KG_WGMMA_SUMS_32(C, i) KG_WGMMA_SUMS_16(C, i), KG_WGMMA_SUMS_16(C, (i) + 16)
#define KG_WGMMA_SUMS_48(C, i) KG_WGMMA_SUMS_32(C, i), KG_WGMMA_SUMS_16(C, (i) + 32)
#define KG_WGMMA_SUMS_64(C, i) KG_WGMMA_SUMS_32(C, i), KG_WGMMA_SUMS_32(C, (i) + 32)
#define KG_WGMMA_SUMS_96(C, i) KG_WGMMA_SUMS_64(C, i), KG_WGMMA_SUMS_32(C, (i) + 64)
#define KG_WGMMA_SUMS_128(C, i) KG_WGMMA_SUMS_64(C, i), KG_WGMMA_SUMS_64(C, (i) + 64)

// N is twice the number of words.
#define KG_WGMMA_EACH_N(FORM, ...)                                                                 \
  FORM(4, "8", "%4", "%5", "%6", "%7", "%8", "%9", "%10", __VA_ARGS__)                             \
  FORM(8, "16", "%8", "%9", "%10", "%11", "%12", "%13", "%14", __VA_ARGS__)                        \
  FORM(16, "32", "%16", "%17", "%18", "%19", "%20", "%21", "%22", __VA_ARGS__)                     \
  FORM(32, "64", "%32", "%33", "%34", "%35", "%36", "%37", "%38", __VA_ARGS__)                     \
  FORM(48, "96", "%48", "%49", "%50", "%51", "%52", "%53", "%54", __VA_ARGS__)                     \
  FORM(64, "128", "%64", "%65", "%66", "%67", "%68", "%69", "%70", __VA_ARGS__)                    \
  FORM(96, "192", "%96", "%97", "%98", "%99", "%100", "%101", "%102", __VA_ARGS__)                 \
  FORM(128, "256", "%128", "%129", "%130", "%131", "%132", "%133", "%134", __VA_ARGS__)
// N is four times the number of words.
#define KG_WGMMA_EACH_N_OF_HALVES(FORM, ...)                                                       \
  FORM(2, "8", "%2", "%3", "%4", "%5", "%6", "%7", "%8", __VA_ARGS__)                              \
  FORM(4, "16", "%4", "%5", "%6", "%7", "%8", "%9", "%10", __VA_ARGS__)                            \
  FORM(8, "32", "%8", "%9", "%10", "%11", "%12", "%13", "%14", __VA_ARGS__)                        \
  FORM(16, "64", "%16", "%17", "%18", "%19", "%20", "%21", "%22", __VA_ARGS__)                     \
  FORM(24, "96", "%24", "%25", "%26", "%27", "%28", "%29", "%30", __VA_ARGS__)                     \
  FORM(32, "128", "%32", "%33", "%34", "%35", "%36", "%37", "%38", __VA_ARGS__)                    \
  FORM(48, "192", "%48", "%49", "%50", "%51", "%52", "%53", "%54", __VA_ARGS__)                    \
  FORM(64, "256", "%64", "%65", "%66", "%67", "%68", "%69", "%70", __VA_ARGS__)

// Operands: both descriptors, whether to add the sums, and which matrices are not K-major.
#define KG_WGMMA_OF_SHARED(W, N, A, B, P, X, Y, unused1, unused2, K, TYPES, C, TAIL)               \
  if constexpr (kWords == W)                                                                       \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, " P ", 0;\n"                                  \
                 " wgmma.mma_async.sync.aligned.m64n" N "k" K "." TYPES " {" KG_WGMMA_NAMES_##W    \
                 "}, " A ", " B ", p" TAIL(X, Y) ";\n}"                                            \
                 : KG_WGMMA_SUMS_##W(C, 0)                                                         \
                 : "l"(a.bits), "l"(b.bits), "r"(static_cast<int>(adds)), "n"(kTurnedA),           \
                   "n"(kTurnedB)                                                                   \
                 : "memory");
// Operands: four registers of A, the descriptor of B, and the rest as above.
#define KG_WGMMA_OF_REGISTERS(W, N, A0, A1, A2, A3, B, P, Y, K, TYPES, C, TAIL)                    \
  if constexpr (kWords == W)                                                                       \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, " P ", 0;\n"                                  \
                 " wgmma.mma_async.sync.aligned.m64n" N "k" K "." TYPES " {" KG_WGMMA_NAMES_##W    \
                 "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B ", p" TAIL##_OF_B(Y) ";\n}"             \
                 : KG_WGMMA_SUMS_##W(C, 0)                                                         \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits),                        \
                   "r"(static_cast<int>(adds)), "n"(kTurnedB)                                      \
                 : "memory");
#define KG_WGMMA_TURNED(X, Y) ", 1, 1, " X ", " Y
#define KG_WGMMA_TURNED_OF_B(Y) ", 1, 1, " Y
#define KG_WGMMA_SCALED(X, Y) ", 1, 1"
#define KG_WGMMA_SCALED_OF_B(Y) ", 1, 1"
#define KG_WGMMA_PLAIN(X, Y) ""
#define KG_WGMMA_PLAIN_OF_B(Y) ""
#define KG_WGMMA_FLOAT(sum) "+f"(sum)
#define KG_WGMMA_WORD(sum) "+r"(sum)

// The statement for the given types.
#define KG_WGMMA_EACH_TYPE(FORM)                                                                   \
  if constexpr (T == MatrixElement::f16 && kHalves) {                                              \
    KG_WGMMA_EACH_N_OF_HALVES(FORM, "16", "f16.f16.f16", KG_WGMMA_WORD, KG_WGMMA_TURNED)           \
  } else if constexpr (T == MatrixElement::f16) {                                                  \
    KG_WGMMA_EACH_N(FORM, "16", "f32.f16.f16", KG_WGMMA_FLOAT, KG_WGMMA_TURNED)                    \
  } else if constexpr (T == MatrixElement::bf16) {                                                 \
    KG_WGMMA_EACH_N(FORM, "16", "f32.bf16.bf16", KG_WGMMA_FLOAT, KG_WGMMA_TURNED)                  \
  } else if constexpr (T == MatrixElement::tf32) {                                                 \
    KG_WGMMA_EACH_N(FORM, "8", "f32.tf32.tf32", KG_WGMMA_FLOAT, KG_WGMMA_SCALED)                   \
  } else if constexpr (T == MatrixElement::e4m3) {                                                 \
    KG_WGMMA_EACH_N(FORM, "32", "f32.e4m3.e4m3", KG_WGMMA_FLOAT, KG_WGMMA_SCALED)                  \
  } else if constexpr (T == MatrixElement::e5m2) {                                                 \
    KG_WGMMA_EACH_N(FORM, "32", "f32.e5m2.e5m2", KG_WGMMA_FLOAT, KG_WGMMA_SCALED)                  \
  } else {                                                                                         \
    KG_WGMMA_EACH_N(FORM, "32", "s32.s8.s8", KG_WGMMA_WORD, KG_WGMMA_PLAIN)                        \
  }
