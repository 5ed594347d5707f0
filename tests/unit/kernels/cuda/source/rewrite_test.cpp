// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/rewrite/project.h"
#include "cuda/source/rewrite/rewrite.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <unistd.h>

namespace kg::rewrite {
namespace {

using testing::HasSubstr;
using testing::Not;

Result result_of(const std::string& text) {
  PassMacros macros;
  return rewrite("k.cu", text, macros);
}
std::string rewritten(const std::string& text) { return result_of(text).text; }

// A function for the host around statements, and what they become.
std::string in_host(const std::string& statements) {
  const std::string before = "void f() { ", after = " }";
  const std::string text = rewritten(before + statements + after);
  return text.substr(before.size(), text.size() - before.size() - after.size());
}
std::string in_kernel(const std::string& statements) {
  const std::string before = "template <class T, int N> __global__ void k(T* p) { ", after = " }";
  const std::string text = rewritten(before + statements + after);
  return text.substr(before.size(), text.size() - before.size() - after.size());
}
std::string recorded(const std::string& text) {
  PassMacros macros;
  return rewrite("k.cu", text, macros, {}, true).text;
}
std::string error_of(const std::string& text) {
  try {
    rewritten(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}
void expect_unchanged(const std::string& text) {
  const Result result = result_of(text);
  EXPECT_EQ(result.text, text);
  EXPECT_FALSE(result.changed);
}

// --- Launches

TEST(Record, AKernelIsListedAndBegins) {
  const std::string text =
      recorded("\ntemplate <class T>\n__global__ void __launch_bounds__(32) k(T* p) { *p = 1; }\n");
  EXPECT_THAT(text, HasSubstr(" k(T* p) { static ::kg::foreign::KernelRun kg_run{\"k.cu\", 3}; "
                              "::kg::foreign::begins(kg_run); *p = 1; } [[maybe_unused]] static "
                              "const ::kg::foreign::KernelDefinition kg_kernel_"));
  EXPECT_THAT(text, HasSubstr("{\"k\", \"k.cu\", 3};\n"));
  EXPECT_THAT(recorded("template <> __global__ void k<int, 2>(int* p) { *p = 1; }"),
              HasSubstr("{\"k\", \"k.cu\", 1};"));
}
TEST(Record, ADeclarationOrAnotherFunctionIsNot) {
  for (const std::string text : {"__global__ void k(int*);", "void f() { g(1); }",
                                 "__device__ float f(float x) { return x; }"})
    EXPECT_EQ(recorded(text), text);
}
TEST(Record, CallsThatAGpuRoundsOtherwise) {
  const auto in_device = [](const std::string& statements) {
    const std::string before = "__device__ void f(float x) { ";
    return recorded(before + statements + " }").substr(before.size());
  };
  EXPECT_THAT(in_device("y = -__expf(std::sin(x)) + 1;"),
              testing::MatchesRegex("y = -\\(::kg::foreign::inexact_call<[0-9]+>\\(\\), "
                                    "__expf\\(\\(::kg::foreign::inexact_call<[0-9]+>\\(\\), "
                                    "std::sin\\(x\\)\\)\\)\\) \\+ 1; }"));
  EXPECT_THAT(in_device("return __expf(x);"), HasSubstr("return (::kg"));
  for (const char* other : {"a.sin(x);", "mine::sin(x);", "float sin(x);", "y = sinus(x);"})
    EXPECT_THAT(in_device(other), Not(HasSubstr("inexact_call"))) << other;
  // Of the host, where CUDA has no part in it.
  EXPECT_THAT(recorded("float f(float x) { return sin(x); }"), Not(HasSubstr("inexact_call")));
  EXPECT_THAT(
      recorded("#define F(x) __expf(x)\n#define G(x) sin(x)\n"),
      testing::MatchesRegex("#define F\\(x\\) \\(::kg::foreign::inexact_call<[0-9]+>\\(\\), "
                            "__expf\\(x\\)\\)\n#define G\\(x\\) sin\\(x\\)\n"));
}

TEST(Launch, Plain) {
  EXPECT_EQ(in_host("k<<<grid, block>>>(a, b);"), "KG_KERNEL(k).at(grid, block)(a, b);");
  EXPECT_EQ(in_host("k <<< 1, 2, 3, s >>> ();"), "KG_KERNEL(k ).at( 1, 2, 3, s ) ();");
  EXPECT_EQ(in_host("k << < 1, 2 >> > (a);"), "KG_KERNEL(k ).at( 1, 2 ) (a);");
  EXPECT_EQ(in_host("k<T> << <f<int>(x), 2> >>(a);"), "KG_KERNEL(k<T> ).at(f<int>(x), 2)(a);");
  EXPECT_EQ(in_host("x = a << 1 < b;"), "x = a << 1 < b;");
  EXPECT_EQ(in_host("if (x) k<<<1,2>>>(); else l<<<1,2>>>();"),
            "if (x) KG_KERNEL(k).at(1,2)(); else KG_KERNEL(l).at(1,2)();");
}

TEST(Launch, KernelsWithTemplateArguments) {
  EXPECT_EQ(in_host("k<a<b>::value, c><<<g, b>>>(x);"),
            "KG_KERNEL(k<a<b>::value, c>).at(g, b)(x);");
  EXPECT_EQ(in_host("k<A<B<int>>><<<1, 2>>>(x);"), "KG_KERNEL(k<A<B<int>>>).at(1, 2)(x);");
  EXPECT_EQ(in_host("k<A<B<int>>> <<<1, 2>>>(x);"), "KG_KERNEL(k<A<B<int>>> ).at(1, 2)(x);");
  EXPECT_EQ(in_host("k<(n > 3)><<<1, 2>>>(x);"), "KG_KERNEL(k<(n > 3)>).at(1, 2)(x);");
}

TEST(Launch, QualifiedKernelsAndExpressions) {
  EXPECT_EQ(in_host("ns::k<T><<<1, 2>>>();"), "KG_KERNEL(ns::k<T>).at(1, 2)();");
  EXPECT_EQ(in_host("::k<<<1, 2>>>();"), "KG_KERNEL(::k).at(1, 2)();");
  EXPECT_EQ(in_host("A<T>::template k<U><<<1, 2>>>();"),
            "KG_KERNEL(A<T>::template k<U>).at(1, 2)();");
  EXPECT_EQ(in_host("(*pointer)<<<1, 2>>>();"), "KG_KERNEL((*pointer)).at(1, 2)();");
  EXPECT_EQ(in_host("table[i + 1]<<<1, 2>>>();"), "KG_KERNEL(table[i + 1]).at(1, 2)();");
  EXPECT_EQ(in_host("choose(x)<<<1, 2>>>();"), "KG_KERNEL(choose(x)).at(1, 2)();");
  EXPECT_EQ(in_host("this->k<<<1, 2>>>();"), "KG_KERNEL(this->k).at(1, 2)();");
  EXPECT_EQ(in_host("return k<<<1, 2>>>();"), "return KG_KERNEL(k).at(1, 2)();");
}

TEST(Launch, ConfigurationsWithAnglesOfTheirOwn) {
  EXPECT_EQ(in_host("k<<<f<A<B<1>>>(x), 2>>>(y);"), "KG_KERNEL(k).at(f<A<B<1>>>(x), 2)(y);");
  EXPECT_EQ(in_host("k<<<1, A<B<2>>::n>>>(y);"), "KG_KERNEL(k).at(1, A<B<2>>::n)(y);");
  EXPECT_EQ(in_host("k<<<1, sizeof_<int>>>>(y);"), "KG_KERNEL(k).at(1, sizeof_<int>)(y);");
  EXPECT_EQ(in_host("k<<<n >> 8, m < 3 ? 1 : 2>>>(y);"),
            "KG_KERNEL(k).at(n >> 8, m < 3 ? 1 : 2)(y);");
  EXPECT_EQ(in_host("k<<<(n > 3 ? 1 : 2), p->n>>>(y);"),
            "KG_KERNEL(k).at((n > 3 ? 1 : 2), p->n)(y);");
  EXPECT_EQ(in_host("k<<<dim3{1, 2}, f([] { return 1; })>>>(y);"),
            "KG_KERNEL(k).at(dim3{1, 2}, f([] { return 1; }))(y);");
}

TEST(Launch, SeveralLinesStayWhereTheyAre) {
  EXPECT_EQ(in_host("k<T>\n  <<<1,\n     2>>>\n  (a,\n   b);"),
            "KG_KERNEL(k<T>\n  ).at(1,\n     2)\n  (a,\n   b);");
}

TEST(Launch, NullIsAPointer) {
  EXPECT_EQ(in_host("k<<<1, 2>>>(NULL, f(NULL), a, NULL);"),
            "KG_KERNEL(k).at(1, 2)(nullptr, f(NULL), a, nullptr);");
}

TEST(Launch, BracesGetTheirTypeFromTheKernel) {
  const std::string open = "::kg::foreign::braced([=]<class KgType>() -> KgType { return ";
  EXPECT_EQ(in_host("k<<<1, 2>>>({1, f(a)}, b, {});"),
            "KG_KERNEL(k).at(1, 2)(" + open + "{1, f(a)}; }), b, " + open + "{}; }));");
  EXPECT_EQ(in_host("k<<<1, 2>>>(T{1}, f({2}), {{3}, 4});"),
            "KG_KERNEL(k).at(1, 2)(T{1}, f({2}), " + open + "{{3}, 4}; }));");
}

TEST(Launch, InMacros) {
  EXPECT_EQ(rewritten("#define L(k, ...) \\\n  k##_f<<<1, 2>>>(__VA_ARGS__)\nint a;\n"),
            "#define L(k, ...) \\\n  KG_KERNEL(k##_f).at(1, 2)(__VA_ARGS__)\nint a;\n");
  EXPECT_EQ(rewritten("#define L k<<<1, /* a\n b */ 2>>>(x)\n"),
            "#define L KG_KERNEL(k).at(1, /* a\n b */ 2)(x)\n");
}

TEST(Launch, ByAddressKeepsItsType) {
  EXPECT_EQ(in_host("cudaLaunchKernel((void*)k<T>, g, b, args);"),
            "cudaLaunchKernel(k<T>, g, b, args);");
  EXPECT_EQ(in_host("cudaLaunchCooperativeKernel((const void *)k, g, b, args);"),
            "cudaLaunchCooperativeKernel(k, g, b, args);");
  EXPECT_EQ(in_host("cudaLaunchKernel(reinterpret_cast<const void*>(&k), g, b, args);"),
            "cudaLaunchKernel((&k), g, b, args);");
  EXPECT_EQ(in_host("node.func = (void*)k<T>; p->func = (void *) l;"),
            "node.func = k<T>; p->func =  l;");
  expect_unchanged("void f() { cudaLaunchKernel(k, g, b, args); func = (void*)x; }");
}

TEST(Launch, NotALaunch) {
  expect_unchanged("// k<<<1, 2>>>(x)\n/* k<<<1, 2>>>(x) */\n");
  expect_unchanged("const char* s = \"k<<<1, 2>>>(x)\"; char c = '\"'; int n = 1'000;");
  expect_unchanged("const char* s = R\"--(k<<<1, 2>>>(x) )\" )--\";");
  expect_unchanged("std::vector<A<B<C>>> x(3); int y = a << 2 >> 1;");
  expect_unchanged("auto& s = operator<<<char>(out, x);");
  expect_unchanged("#error don't k<<<1, 2>>>(x)\n#if 0 // it's\n#endif\n");
  expect_unchanged("// continued \\\nk<<<1, 2>>>(x)\n");
}

TEST(Launch, InDeviceCode) {
  EXPECT_EQ(in_kernel("l<<<1, 2>>>(x);"), "KG_KERNEL(l).at(1, 2)(x);");
  EXPECT_THAT(rewritten("__host__ __device__ void f() { l<<<1, 2>>>(x); }"),
              HasSubstr("KG_KERNEL(l)"));
}

TEST(Launch, NotUnderstood) {
  EXPECT_EQ(error_of("void f() {\n  k<<<1, 2;\n}"),
            "k.cu:2: <<< without >>>: a launch's configuration ends in >>>");
  EXPECT_EQ(error_of("void f() {\n\n  k<<<1, 2>>>;\n}"),
            "k.cu:3: a launch goes on with its arguments in parentheses after >>>");
  EXPECT_EQ(error_of("void f() { + <<<1, 2>>>(); }"),
            "k.cu:1: no kernel's name before <<<, but \"+\"");
  EXPECT_THAT(error_of("int a;\n/* never"), HasSubstr("k.cu:2: this comment does not end"));
  EXPECT_THAT(error_of("auto s = R\"(never"), HasSubstr("k.cu:1: this raw string does not end"));
  EXPECT_THAT(error_of("auto s = \"never\n\";"),
              HasSubstr("k.cu:1: this literal does not end on its line"));
}

// --- Shared memory

TEST(Shared, DynamicInAKernel) {
  const std::string s = "[[maybe_unused]] auto* const s = ::kg::dynamic_shared<";
  EXPECT_EQ(in_kernel("extern __shared__ float s[];"), s + "float>();");
  EXPECT_EQ(in_kernel("extern __shared__ T s[];"), s + "T>();");
  EXPECT_EQ(in_kernel("extern __shared__ __align__(16) unsigned char s[];"),
            s + "unsigned char>();");
  EXPECT_EQ(in_kernel("extern __align__(sizeof(T)) __shared__ T s[];"), s + "T>();");
  EXPECT_EQ(in_kernel("extern volatile __shared__ int s[];"), s + "volatile int>();");
  EXPECT_EQ(in_kernel("__shared__ extern float4 s[] __attribute__((aligned(128)));"),
            s + "float4>();");
  EXPECT_EQ(in_kernel("extern __shared__ A<int, B<T>> s[];"), s + "A < int , B < T > >>();");
  EXPECT_EQ(in_kernel("extern __shared__ float s[][N];"), s + "float[ N ]>();");
  EXPECT_EQ(in_kernel("extern float __shared__ s[];"), s + "float>();");
  EXPECT_EQ(in_kernel("f(); volatile A<T, 3> extern __shared__ s[];"),
            "f(); " + s + "volatile A < T , 3 >>();");
  EXPECT_EQ(in_kernel("extern unsigned __align__(8) int __shared__ s[];"), s + "unsigned int>();");
  EXPECT_EQ(in_kernel("extern __shared__ typename U<T>::type s[];"),
            s + "typename U < T > :: type>();");
  EXPECT_EQ(in_kernel("alignas(8) extern __shared__ char s[], t[];"),
            s + "char>(); [[maybe_unused]] auto* const t = ::kg::dynamic_shared<char>();");
}

TEST(Shared, SeveralLinesStayWhereTheyAre) {
  EXPECT_EQ(in_kernel("extern __shared__\n  float\n  s[];"),
            "[[maybe_unused]] auto* const s = ::kg::dynamic_shared<float>()\n\n;");
}

TEST(Shared, DynamicOutsideFunctions) {
  const std::string s = "[[maybe_unused]] static constexpr ::kg::foreign::DynamicShared<";
  EXPECT_EQ(rewritten("extern __shared__ float s[];"), s + "float> s{};");
  EXPECT_EQ(rewritten("namespace a { extern __shared__ float s[]; }"),
            "namespace a { " + s + "float> s{}; }");
  EXPECT_EQ(rewritten("extern \"C\" { extern __shared__ float s[]; }"),
            "extern \"C\" { " + s + "float> s{}; }");
  EXPECT_EQ(rewritten("struct A { int x = f(); }; extern __shared__ float s[];"),
            "struct A { int x = f(); }; " + s + "float> s{};");
}

TEST(Shared, Static) {
  expect_unchanged("__global__ void k() { __shared__ float s[32][33]; }");
  EXPECT_EQ(in_kernel("float __shared__ s[32];"), "__shared__ float  s[32];");
  EXPECT_EQ(in_kernel("if (x) f(); const A<T> __shared__ s;"),
            "if (x) f(); __shared__ const A<T>  s;");
  EXPECT_EQ(in_kernel("__shared__ alignas(16) float s[4];"),
            "__shared__ __attribute__((aligned(::kg::foreign::alignment<16>()))) float s[4];");
  EXPECT_EQ(in_kernel("alignas(float4) __shared__ float s[4];"),
            "__shared__ __attribute__((aligned(::kg::foreign::alignment<float4>())))  float s[4];");
  EXPECT_EQ(in_kernel("static __shared__ int s;"), "__shared__   int s;");
  EXPECT_EQ(in_kernel("__align__(16) volatile __shared__ char s[4];"),
            "__shared__ __align__(16) volatile  char s[4];");
  EXPECT_EQ(in_kernel("__shared__ static int s;"), "__shared__  int s;");
}

TEST(Shared, NotUnderstood) {
  EXPECT_EQ(error_of("__global__ void k() {\n  extern __shared__ float s;\n}"),
            "k.cu:2: dynamic shared memory is declared as extern __shared__ T name[]; this is not");
  EXPECT_EQ(error_of("__global__ void k() { extern __shared__ float s[], t; }"),
            "k.cu:1: dynamic shared memory: \"t\" must be an array");
}

// --- What the host has no twin of

TEST(Unsupported, InlinePtxInDeviceCode) {
  EXPECT_EQ(in_kernel("asm volatile(\"mov\" : \"=r\"(x));"),
            "KG_NO_INLINE_PTX(\"mov\" : \"=r\"(x));");
  EXPECT_EQ(in_kernel("__asm__ __volatile__ (\"x\");"), "KG_NO_INLINE_PTX (\"x\");");
  EXPECT_THAT(rewritten("struct A { __device__ int f() const { asm(\"x\"); } };"),
              HasSubstr("KG_NO_INLINE_PTX"));
  EXPECT_THAT(rewritten("void f() { auto l = [] __device__ (int) { asm(\"x\"); }; }"),
              HasSubstr("KG_NO_INLINE_PTX"));
  EXPECT_EQ(rewritten("#define A(x) asm(x)\n"), "#define A(x) KG_NO_INLINE_PTX(x)\n");
  expect_unchanged("void f() { __asm__(\"nop\"); } __device__ int x; void g() { asm(\"nop\"); }");
}

TEST(Heap, InDeviceCode) {
  EXPECT_EQ(in_kernel("p = new T[3]; delete[] p; delete *q;"),
            "p = new (::kg::foreign::heap) T[3]; ::kg::foreign::heap_arrays->* p; "
            "::kg::foreign::heap->* *q;");
  EXPECT_EQ(in_kernel("p = (T*)malloc(3); ::free(p); return std::malloc(1);"),
            "p = (T*)::kg::foreign::heap_malloc(3); ::kg::foreign::heap_free(p); return "
            "::kg::foreign::heap_malloc(1);");
  EXPECT_EQ(rewritten("struct A { __device__ A(int n) : p(new int[n]) {} A() : p(new int) {} };"),
            "struct A { __device__ A(int n) : p(new (::kg::foreign::heap) int[n]) {} A() : p(new "
            "int) {} };");
  expect_unchanged("__global__ void k() { new (p) T; pool.malloc(3); int free = 3; }");
  expect_unchanged("void f() { p = new T; free(malloc(3)); }");
  expect_unchanged("struct A { __device__ A(int) {} A() = delete; };");
}

TEST(Unsupported, NoinlineIsSpelledAsTheStandardLibraryNeedsIt) {
  EXPECT_EQ(rewritten("__noinline__ __device__ void f();"),
            "__attribute__((noinline)) __device__ void f();");
  expect_unchanged("__attribute__((__noinline__)) void f();");
}

TEST(Cccl, IsCompiledAsByACompilerWithoutCuda) {
  EXPECT_EQ(
      rewritten("int a;\n#include <thrust/sort.h> // sorts\nint b;\n"),
      "int a;\n#include <kernelgrade_cccl_begin.h>\n#line 2\n#include <thrust/sort.h> // sorts\n"
      "#include <kernelgrade_cccl_end.h>\n#line 3\nint b;\n");
  expect_unchanged("#include <thrusters.h>\n#include \"mine.h\"\n#include <cuda.h>\n");
}

// --- Files

class Files : public testing::Test {
 protected:
  Files() { fs::create_directories(folder_ / "headers"); }
  ~Files() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    return folder_ / name;
  }
  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  std::string project(const fs::path& source) {
    Project project(folder_, {folder_ / "headers"}, folder_ / "copies");
    project.write(source, folder_ / "out.cpp");
    return read(folder_ / "out.cpp");
  }

  // In the build tree, where the test runs; canonical, as the project's paths are.
  const fs::path folder_ =
      fs::weakly_canonical(fs::current_path()) / ("rewrite_test_files." + std::to_string(getpid()));
};

TEST_F(Files, HeadersThatNeedItAreCopied) {
  write("plain.h", "int plain;\n");
  write("headers/kernel.cuh", "#include \"../plain.h\"\nvoid f() { k<<<1, 2>>>(); }\n");
  const fs::path source =
      write("a.cu", "#include <vector>\n#include \"plain.h\"\n#include <kernel.cuh>\n");
  const std::string text = project(source);
  const fs::path copy = folder_ / "copies/headers/kernel.cuh";
  EXPECT_EQ(text, "#include <kernelgrade_cuda_source.h>\n#line 1 \"" + source.string() +
                      "\"\n#include <vector>\n#include \"" + (folder_ / "plain.h").string() +
                      "\"\n#include \"" + copy.string() + "\"\n");
  EXPECT_EQ(read(copy), "#line 1 \"" + (folder_ / "headers/kernel.cuh").string() +
                            "\"\n#include \"" + (folder_ / "plain.h").string() +
                            "\"\nvoid f() { KG_KERNEL(k).at(1, 2)(); }\n");
}

// A macro that only the device's pass has is noticed wherever it is used.
TEST_F(Files, MacrosOfTheDevicesPassAreKnownToAllFiles) {
  write("early.h", "inline int f() { return LIMIT; }\n");
  write("limit.h", "#if __CUDA_ARCH__ >= 700\n#define LIMIT 2\n#else\n#define LIMIT 1\n#endif\n");
  const std::string text = project(write("a.cu", "#include \"early.h\"\n#include \"limit.h\"\n"));
  EXPECT_THAT(text, HasSubstr("copies/early.h"));
  EXPECT_THAT(read(folder_ / "copies/early.h"), HasSubstr("defined(KG_PASSES_DIFFER_ON_LIMIT)"));
}

TEST_F(Files, HeadersOutsideTheProjectAreCopiedUnlessTheyAreAToolkits) {
  fs::create_directories(folder_ / "project");
  fs::create_directories(folder_ / "headers/crt");
  const std::string kernel = "void f() { k<<<1, 2>>>(); }\n";
  const fs::path other = write("other.h", kernel);
  write("headers/toolkit.h", kernel);
  const fs::path source = write("project/a.cu", "#include \"../other.h\"\n#include <toolkit.h>\n");
  const auto written = [&] {
    Project project(folder_ / "project", {folder_ / "headers"}, folder_ / "copies");
    project.write(source, folder_ / "out.cpp");
    return read(folder_ / "out.cpp");
  };
  EXPECT_THAT(written(), HasSubstr((folder_ / "copies/outside").string() + other.string()));
  EXPECT_THAT(written(), HasSubstr("headers/toolkit.h\"\n"));
  write("headers/crt/host_config.h", "");
  EXPECT_THAT(written(), HasSubstr("\n#include <toolkit.h>\n"));
}

TEST_F(Files, AHeaderThatIncludesItselfEnds) {
  write("a.h", "#pragma once\n#include \"b.h\"\n");
  write("b.h", "#pragma once\n#include \"a.h\"\n");
  EXPECT_THAT(project(write("a.cu", "#include \"a.h\"\n")),
              HasSubstr("#include \"" + (folder_ / "a.h").string()));
}

TEST_F(Files, AnErrorInAHeaderNamesIt) {
  write("bad.h", "int a;\nvoid f() { k<<<1, 2>>>; }\n");
  const fs::path source = write("a.cu", "#include \"bad.h\"\n");
  std::string message;
  try {
    project(source);
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr((folder_ / "bad.h").string() + ":2: a launch goes on"));
  EXPECT_THAT(message, Not(HasSubstr("a.cu")));
}

} // namespace
} // namespace kg::rewrite
