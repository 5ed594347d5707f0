// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// __CUDA_ARCH__ in every place where it may stand: answered as nvcc's device pass does where only
// that can be meant, else left alone behind an error for when the two passes differ.
#include "cuda/source/rewrite/rewrite.h"
#include "runtime/host/virtual_device.h"

#include <cuda_runtime.h>
#include <kernelgrade_cuda_source.h>

#include <gmock/gmock.h>

namespace kg::rewrite {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string rewritten(const std::string& text) {
  PassMacros macros;
  return rewrite("k.cu", text, macros).text;
}

// Whether the text goes through as nvcc's device pass would see it, and nothing is refused.
void expect_device(const std::string& text) {
  std::string expected = text;
  for (std::size_t at = 0; (at = expected.find("__CUDA_ARCH__", at)) != std::string::npos;)
    expected.replace(at, 13, "KERNELGRADE_CUDA_ARCH");
  EXPECT_EQ(rewritten(text), expected);
}
// Whether a condition stays as it is, and its error stands in front of it.
void expect_asked(const std::string& text) {
  const std::string result = rewritten(text);
  EXPECT_THAT(result, HasSubstr("#error Kernelgrade: __CUDA_ARCH__ decides differently"));
  for (const char* directive : {"#if __CUDA_ARCH__", "#ifdef __CUDA_ARCH__"}) {
    if (text.find(directive) == std::string::npos) continue;
    EXPECT_THAT(result, HasSubstr(directive));
  }
}

TEST(Architecture, IsTheVirtualDevices) {
  EXPECT_EQ(KERNELGRADE_CUDA_ARCH, 100 * host::kComputeMajor + 10 * host::kComputeMinor);
}

TEST(Architecture, InDeviceCode) {
  expect_device("__global__ void k() {\n#if __CUDA_ARCH__ >= 700\n  f();\n#endif\n}");
  expect_device("__global__ void k()\n{\n#ifdef __CUDA_ARCH__\n  f();\n#else\n  g();\n#endif\n}");
  expect_device(
      "struct A { __device__ int f() const { if (x) {\n#ifndef __CUDA_ARCH__\n#endif\n} } };");
  expect_device(
      "__device__ void f() {\n#if 0\n#elif defined(__CUDA_ARCH__) && \\\n __CUDA_ARCH__ > 1\n"
      "#endif\n}");
  expect_device("template <class T, int = (3)> __device__ void f() { auto g = [&] {\n"
                "#if __CUDA_ARCH__\n#endif\n}; }");
  expect_device("void f() { call([] __device__ () {\n#if __CUDA_ARCH__\n#endif\n}); }");
  expect_device("__device__ bool f() { return __CUDA_ARCH__ >= 700; }");
}

TEST(Architecture, InCodeForBothOrForTheHost) {
  expect_asked("__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n return 1;\n#endif\n}");
  expect_asked("int f() {\n#ifdef __CUDA_ARCH__\n return 1;\n#endif\n}");
  expect_asked("DEVICE int f() {\n#ifdef __CUDA_ARCH__\n return 1;\n#endif\n}"); // a macro hides it
  expect_asked("#ifdef __CUDA_ARCH__\n__device__ void f() {}\n#include \"x.h\"\n#endif\n");
  expect_asked("#ifdef __CUDA_ARCH__\nconst int width = 3;\n#endif\n");
  expect_asked("#ifdef __CUDA_ARCH__\n__constant__ int a[3] = {f()};\n#endif\n");
  expect_asked("#ifdef __CUDA_ARCH__\n__device__ int a = f();\n#endif\n");
  expect_asked("struct A {\n#ifdef __CUDA_ARCH__\n int a;\n#endif\n};");
  expect_asked("__device__\n#if __CUDA_ARCH__ >= 700\n__noreturn__\n#endif\nvoid f() {}");
  EXPECT_EQ(rewritten("int f() { return __CUDA_ARCH__; }"), "int f() { return __CUDA_ARCH__; }");
}

TEST(Architecture, FunctionsForTheDeviceAloneAreInItsPass) {
  expect_device(
      "#if __CUDA_ARCH__ < 600\n__device__ double atomicAdd(double* a, double b) { f(); }\n"
      "template <class T> static __device__ void g(T);\n#endif\n");
  expect_device("struct A {\n#ifdef __CUDA_ARCH__\n__device__ int f() const {}\n#endif\n};");
  expect_device(
      "#if __CUDA_ARCH__ >= 700\n__global__ void k() {}\n#else\n__global__ void k();\n#endif");
  expect_device("#if __CUDA_ARCH__ >= 700\n#include <cooperative_groups/reduce.h>\n#endif\n");
  expect_asked("#if __CUDA_ARCH__ < 600\n__device__ void f() {}\nvoid g() {}\n#endif\n");
  expect_asked("#if __CUDA_ARCH__ < 600\n__host__ __device__ void f() {}\n#endif\n");
  expect_asked("void f() {\n#if __CUDA_ARCH__\n auto g = [] __device__ (int) {};\n#endif\n}");
}

TEST(Architecture, BracesThatAreNotBalancedProveNothing) {
  expect_asked("__global__ void k() {\nvoid f() {\n#ifdef __CUDA_ARCH__\n#endif\n}");
  expect_asked(
      "__global__ void k() {\n#if A\n}\n#else\n#endif\nvoid f() {\n#if __CUDA_ARCH__\n#endif\n}");
}

TEST(Architecture, BranchesThatOpenTheSameBrace) {
  const std::string head =
      "#if A\n__global__ void k(int) {\n#else\n__global__ void k() {\n#endif\n";
  const std::string asks = "#if __CUDA_ARCH__ > 1\n x;\n#endif\n}\n";
  expect_device(head + asks);
  expect_asked(head + "}\nvoid f() {\n" + asks);
}

// The preprocessor decides, whose macros nobody else knows; lines stay what they were.
TEST(Architecture, ErrorsNameTheLine) {
  const std::string text = "#if A || __CUDA_ARCH__ >= 700\nint b;\n#endif\n";
  const std::string result = rewritten("int a;\n" + text);
  EXPECT_THAT(result, testing::StartsWith("int a;\n#if (!(A || __CUDA_ARCH__ >= 700) != "
                                          "!(A || KERNELGRADE_CUDA_ARCH >= 700) ||"));
  EXPECT_THAT(result, HasSubstr("\n#line 2\n#error "));
  EXPECT_THAT(result, testing::EndsWith("\n#endif\n#line 2\n" + text));
  EXPECT_THAT(
      rewritten("\n#if A\n#elif B\n#elif defined(__CUDA_ARCH__)\nint x;\n#elif C\n#else\n#endif\n"),
      HasSubstr("#if (!(A) && (!(B) && (!(defined(__CUDA_ARCH__)) != !(defined("
                "KERNELGRADE_CUDA_ARCH)) || "));
}

// Such a macro is the device's; where it is used elsewhere, the preprocessor is asked whether the
// passes differ on it.
TEST(Architecture, MacrosThatDifferAreUsedInDeviceCodeAlone) {
  const std::string macro = "#if __CUDA_ARCH__ >= 700\n#define N 2\n#else\n#define N 1\n#endif\n";
  const char* asked = "#if defined(KG_PASSES_DIFFER_ON_N)\n#line ";
  EXPECT_THAT(rewritten(macro), HasSubstr("\n#define KG_PASSES_DIFFER_ON_N"));
  EXPECT_THAT(rewritten(macro), HasSubstr("#if KERNELGRADE_CUDA_ARCH >= 700\n#define N 2\n"));
  EXPECT_THAT(rewritten(macro + "__global__ void __launch_bounds__(256, N) k() { f(N); }\n"
                                "__device__ void f() {\n#if N > 1\n#endif\n}"),
              Not(HasSubstr(asked)));
  for (const char* use :
       {"int a = N;", "__host__ __device__ int f() { return N; }", "#if N > 1\n#endif",
        "#ifndef N\n#endif", "#if A\n#elif N\n#endif", "__device__ int a[N];"}) {
    EXPECT_THAT(rewritten(macro + use), HasSubstr(asked)) << use;
    EXPECT_THAT(rewritten(use), Not(HasSubstr("#error"))) << use;
  }
  EXPECT_THAT(rewritten(macro + "#define M (N + 1)\nint a = M;"), HasSubstr(asked));
}

TEST(Architecture, AMacroThatAsks) {
  const std::string macro = "#define RECENT (__CUDA_ARCH__ >= 700)\n";
  const std::string ours = "#define KG_PASSES_DIFFER_ON_RECENT\n#line 1\n"
                           "#define RECENT (KERNELGRADE_CUDA_ARCH >= 700)\n";
  const std::string use = "__device__ int f() {\n#if RECENT\n#endif\n}";
  EXPECT_EQ(rewritten(macro + use), ours + use);
  EXPECT_THAT(rewritten(macro + "\n#if RECENT\n#endif"),
              HasSubstr("#if defined(KG_PASSES_DIFFER_ON_RECENT)\n#line 3\n#error"));
  EXPECT_EQ(rewritten("#define NAME \"__CUDA_ARCH__\"\n"), "#define NAME \"__CUDA_ARCH__\"\n");
}

TEST(Architecture, WhatDoesNotAskIsLeftAlone) {
  const std::string text =
      "#if A >= 3 // __CUDA_ARCH__\n#else it's\n#endif\n#ifdef __CUDA_ARCH_LIST__\n#endif\n";
  EXPECT_EQ(rewritten(text), text);
}

} // namespace
} // namespace kg::rewrite
