// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Originals that are not a complete part of their source are refused, and every operation's spec
// applies to the current kernels; the mutants themselves are built at night.
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/atomic_file.h"
#include "tests/mutation/mutants/mutate.h"
#include "tests/mutation/mutants/whole.h"

namespace kg::mutants {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string why(const std::string& source, const std::string& original,
                Kind kind = Kind::expression) {
  const std::size_t begin = source.find(original);
  EXPECT_NE(begin, std::string::npos) << original;
  return why_not_whole(source, {begin, begin + original.size()}, kind);
}

TEST(Whole, OperatorsBesideItBindNoTighter) {
  EXPECT_THAT(why("x = a + b * c;", "b * c"), IsEmpty());
  EXPECT_THAT(why("x = a + b * c;", "a + b"), HasSubstr("\"*\" beside it"));
  EXPECT_THAT(why("x = a - b + c;", "b + c"), HasSubstr("\"-\" beside it"));
  EXPECT_THAT(why("x = a - b + c;", "a - b"), IsEmpty());
  EXPECT_THAT(why("x = a && b && c;", "b && c"), IsEmpty());
  EXPECT_THAT(why("x = a || b && c;", "a || b"), HasSubstr("\"&&\" beside it"));
  EXPECT_THAT(why("x = !a == b;", "a == b"), HasSubstr("\"!\" beside it"));
  EXPECT_THAT(why("x = -a * b;", "-a"), IsEmpty());
  EXPECT_THAT(why("x = p + i[n];", "p + i"), HasSubstr("\"[\" beside it"));
  EXPECT_THAT(why("f(a, b + c, d);", "b + c"), IsEmpty());
  EXPECT_THAT(why("x = a ? b : c;", "a ? b : c"), IsEmpty());
}

TEST(Whole, ArgumentsOfTemplatesAreBrackets) {
  EXPECT_THAT(why("x = a * get<int, 3>(b);", "get<int, 3>(b)"), IsEmpty());
  EXPECT_THAT(why("x = a < b + c;", "a < b"), HasSubstr("\"+\" beside it"));
  EXPECT_THAT(why("x = get<N + 1>(b);", "N + 1"), HasSubstr("argument of a template"));
}

TEST(Whole, NamesAndBracketsStayTogether) {
  EXPECT_THAT(why("x = f(a) + b;", "a) + b"), HasSubstr("brackets"));
  EXPECT_THAT(why("x = f(a);", "(a)"), HasSubstr("\"f\" before it"));
  EXPECT_THAT(why("x = a.b;", "b"), HasSubstr("\".\" beside it"));
  EXPECT_THAT(why("x = value;", "val"), HasSubstr("within a word"));
  EXPECT_THAT(why("return a + b;", "a + b"), IsEmpty());
  EXPECT_THAT(why("float x = 1;", "x = 1"), HasSubstr("\"float\" before it"));
  EXPECT_THAT(why("if (a) x = 1;", "x = 1"), IsEmpty());
}

TEST(Whole, ConstantsAreNoChoice) {
  EXPECT_THAT(why("constexpr int kWidth = f(2) * 8;", "8"), HasSubstr("constant"));
  EXPECT_THAT(why("static_assert(a == 8);", "a == 8"), HasSubstr("constant"));
  EXPECT_THAT(why("if constexpr (a) x = f(8);", "8"), IsEmpty());
  EXPECT_THAT(why("if constexpr (a == 8) x = 1;", "a == 8"), HasSubstr("constant"));
  EXPECT_THAT(why("constexpr int f() { return 8; }", "8"), IsEmpty());
}

TEST(Whole, StatementsEndAndDeclareNothing) {
  EXPECT_THAT(why("f(); g();", "g();", Kind::statement), IsEmpty());
  EXPECT_THAT(why("if (a) g();", "g();", Kind::statement), IsEmpty());
  EXPECT_THAT(why("for (;;) { g(); }", "{ g(); }", Kind::statement), IsEmpty());
  EXPECT_THAT(why("f(); g();", "g()", Kind::statement), HasSubstr("ends with ;"));
  EXPECT_THAT(why("x = g();", "g();", Kind::statement), HasSubstr("\"=\" before it"));
  EXPECT_THAT(why("f(); const int a = g();", "const int a = g();", Kind::statement),
              HasSubstr("declares"));
}

TEST(Whole, CommentsAndTextsAreNoCode) {
  EXPECT_THAT(why("x = a /* (*/ + b; // )", "a /* (*/ + b"), IsEmpty());
  EXPECT_THAT(why("f(\")\", ')', a);", "\")\", ')', a"), IsEmpty());
}

TEST(Specs, OfEveryOperationApply) {
  const std::filesystem::path root = KERNELGRADE_SOURCE_DIR;
  int operations = 0;
  for (const auto& op : std::filesystem::directory_iterator(root / "tests/ops")) {
    const std::filesystem::path spec = op.path() / "mutants.json";
    if (!std::filesystem::exists(spec)) continue;
    ++operations;
    SCOPED_TRACE(spec.string());
    std::vector<Mutant> mutants;
    EXPECT_NO_THROW(mutants = read_spec(spec));
    std::set<std::string> files;
    for (const Mutant& mutant : mutants) files.insert(mutant.file);
    for (const std::string& file : files) {
      const std::optional<std::string> source = read_file(root / "kernels" / file);
      ASSERT_TRUE(source.has_value()) << file;
      EXPECT_NO_THROW(mutated(*source, file, file, mutants)) << file;
    }
  }
  EXPECT_GE(operations, 56);
}

} // namespace
} // namespace kg::mutants
