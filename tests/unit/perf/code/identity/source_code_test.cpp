// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/source_code.h"

#include <gtest/gtest.h>

namespace kg::identity {
namespace {

struct Pair {
  const char* one;
  const char* other;
};

TEST(SourceCode, FormattingCommentsAndIncludesDoNotCount) {
  for (const auto& [one, other] : {
           Pair{"int x = a+b;\n", "int  x\n    = a + b; // the sum\n"},
           {"int /* of what? */ x;", "int x;"},
           {"f(a, b);\n", "f(a,\n  b);"},
           {"#include \"a.h\"\n#include <b>\nint x;", "#include <c>\n\nint x;"},
           {"#define N 2\nint x[N];\n", "#  define N 2 // two\n\n  int x[N];\n"},
           {"#define F(x) \\\n  g(x)\n", "#define F(x)   g(x)\n"},
           {"#error don't\nint x;\n", "#error don't\nint  x ;\n"},
           {"int n = 1'000 ;", "int n = 1'000;"},
           {"", "// nothing\n/* at\n all */\n"},
       })
    EXPECT_EQ(source_code(one), source_code(other)) << one << "\n---\n" << other;
}

TEST(SourceCode, EveryTokenCounts) {
  for (const auto& [one, other] : {
           Pair{"int x;", "int y;"},
           {"int x;", "intx;"},
           {"a + +b;", "a ++b;"},
           {"a - --b;", "a-- -b;"},
           {"\"a  b\"", "\"a b\""},
           {"\"// no comment\"", "\"\""},
           {"'\"' + '//' + \"x\"", "'\"' + \"x\""},
           {"R\"(a\" /* b */)\" c", "R\"(a\" )\" c"},
           {"#define F (x)\n", "#define F(x)\n"},
           {"#define A\nB\n", "#define A B\n"},
           {"x\n#if A\ny\n#endif\n", "x\ny\n#if A\n#endif\n"},
           {"'\\'' /* a */ 'b'", "'\\'' 'c'"},
           {"int x; // \\\n", "int x;\ny"},
       })
    EXPECT_NE(source_code(one), source_code(other)) << one << "\n---\n" << other;
}

TEST(SourceCode, WhatDoesNotEndIsTakenToTheEnd) {
  for (const char* text : {"/* a", "\"a", "'a", "R\"(a", "R\"a", "#", "\\", "\"\\"})
    EXPECT_NO_THROW(source_code(text)) << text;
}

std::string hash_of(const std::vector<std::pair<std::string, std::string>>& files) {
  SourceHash sources;
  for (const auto& [name, text] : files) sources.add(name, text);
  Hash hash;
  sources.into(hash);
  return hash.hex();
}

TEST(SourceHash, KnowsContentsAndNoFolders) {
  const std::string hash = hash_of({{"a/x.cu", "int x;"}, {"a/y.json", "{}"}});
  EXPECT_EQ(hash_of({{"b/y.json", "{}"}, {"c/z.h", "int  x ;"}}), hash);
  EXPECT_NE(hash_of({{"a/x.cu", "int x;"}, {"a/y.json", "{ }"}}), hash) << "no C++";
  EXPECT_NE(hash_of({{"a/x.cu", "int x;"}, {"a/y.json", "{}"}, {"a/z.h", ""}}), hash);
}

} // namespace
} // namespace kg::identity
