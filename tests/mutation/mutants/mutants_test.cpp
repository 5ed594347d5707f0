// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mutants are created as specified, and judged by the test program's output.
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/mutation/mutants/classify.h"
#include "tests/mutation/mutants/execution.h"
#include "tests/mutation/mutants/mutate.h"

namespace kg::mutants {
namespace {

using testing::HasSubstr;

Mutant mutant(std::string name, std::string original, std::string code, std::string after = "") {
  return {.name = std::move(name),
          .file = "op/op.cu",
          .after = std::move(after),
          .original = std::move(original),
          .mutant = std::move(code)};
}

std::string body(const std::string& source, const std::vector<Mutant>& mutants) {
  const std::string text = mutated(source, "op/op.cu", "/k/op/op.cu", mutants);
  const std::string head =
      "#include \"tests/mutation/mutants/switch.h\"\n#line 1 \"/k/op/op.cu\"\n";
  EXPECT_EQ(text.substr(0, head.size()), head);
  return text.substr(head.size());
}

template <typename F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Mutate, ExpressionBecomesAChoice) {
  EXPECT_EQ(body("if (i < n) x = 1;", {mutant("a", "i < n", "i <= n")}),
            "if ((kg::mutant(0) ? (i <= n) : (i < n))) x = 1;");
}

TEST(Mutate, StatementBecomesABranch) {
  EXPECT_EQ(body("f(); g();", {mutant("a", "f();", "")}),
            "{if (kg::mutant(0)) {} else {f();}} g();");
}

// Its number is its index in the list, whichever files the others are in.
TEST(Mutate, OtherFilesAreLeftAlone) {
  Mutant other = mutant("a", "x", "y");
  other.file = "op/other.h";
  EXPECT_EQ(body("x = 1;", {other, mutant("b", "1", "2")}), "x = (kg::mutant(1) ? (2) : (1));");
}

TEST(Mutate, MutantsNestAndShareAPlace) {
  const Mutant all = mutant("all", "f(a + b);", "");
  EXPECT_EQ(
      body("f(a + b);", {mutant("sum", "a + b", "a - b"), all, mutant("again", "a + b", "b")}),
      "{if (kg::mutant(1)) {} else {f((kg::mutant(0) ? (a - b) : ((kg::mutant(2) ? (b) : "
      "(a + b)))));}}");
}

TEST(Mutate, OuterComesBeforeInnerWhereBothBegin) {
  const Mutant all = mutant("all", "a = b;", "");
  EXPECT_EQ(body("a = b;", {mutant("left", "a", "c"), all}),
            "{if (kg::mutant(1)) {} else {(kg::mutant(0) ? (c) : (a)) = b;}}");
}

TEST(Mutate, NeighboursDoNotNest) {
  EXPECT_EQ(body("a+b", {mutant("a", "a", "x"), mutant("b", "b", "y")}),
            "(kg::mutant(0) ? (x) : (a))+(kg::mutant(1) ? (y) : (b))");
}

TEST(Mutate, LinesKeepTheirNumbers) {
  const std::string text =
      body("one +\ntwo + three\n+ four", {mutant("a", "two + three", "2\n3\n4")});
  EXPECT_EQ(text, "one +\n(kg::mutant(0) ? (2 3 4) : (two + three))\n+ four");
}

TEST(Mutate, OriginalsThatOverlapInPartAreRefused) {
  EXPECT_THAT(message_of([] {
                body("a + b + c", {mutant("left", "a + b", "0"), mutant("right", "b + c", "0")});
              }),
              HasSubstr("\"left\" and \"right\" overlap in part"));
}

TEST(Mutate, NamesAreInTheOrderOfTheirNumbers) {
  EXPECT_THAT(names_source({mutant("first", "a", "b"), mutant("second", "a", "b")}),
              HasSubstr("choose_mutant({\n    \"first\",\n    \"second\",\n})"));
}

TEST(FindOriginal, MissingOrTwiceIsAnErrorWithFileAndCount) {
  const auto message = [](const std::string& source) {
    return message_of([&] { find_original(source, mutant("m", "i < n", "true")); });
  };
  EXPECT_THAT(message("j < n"), HasSubstr("mutant \"m\": \"original\" occurs 0 times in op/op.cu"));
  EXPECT_THAT(message("i < n, i < n"), HasSubstr("occurs 2 times in op/op.cu"));
}

TEST(FindOriginal, IsTheFirstBehindItsAnchor) {
  const std::string source = "i < n; void f() { i < n; i < n; }";
  EXPECT_EQ(find_original(source, mutant("m", "i < n", "true", "f()")).begin, 18u);
  EXPECT_THAT(message_of([&] { find_original(source, mutant("m", "i < n", "true", "i")); }),
              HasSubstr("\"after\" occurs"));
  EXPECT_THAT(message_of([&] { find_original(source, mutant("m", "void", "true", "f()")); }),
              HasSubstr("occurs 0 times in op/op.cu behind \"after\""));
}

TEST(FindOriginal, WhiteSpaceIsOfAnyKindAndLength) {
  const std::string source = "x =\n    a +  b;";
  const Place place = find_original(source, mutant("m", "x = a + b", "0"));
  EXPECT_EQ(place.begin, 0u);
  EXPECT_EQ(place.end, source.size() - 1);
  EXPECT_EQ(line_of(source, source.find('b')), 2);
  EXPECT_THAT(message_of([&] { find_original(source, mutant("m", "x=a", "0")); }),
              HasSubstr("occurs 0 times"));
}

// A spec of one mutant; `key` is added or has another value (empty: is missing).
std::string spec(const std::string& key = "", const std::string& value = "") {
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"name", "\"m\""},   {"file", "\"op/op.cu\""},   {"original", "\"i < n\""},
      {"mutant", "\"i\""}, {"killed_by", "\"exact\""}, {"why", "\"a bug\""},
  };
  std::string text = "[{";
  bool found = false;
  for (const auto& [name, own] : fields) {
    found |= name == key;
    const std::string& used = name == key ? value : own;
    if (!used.empty()) text += (text.size() > 2 ? ", \"" : "\"") + name + "\": " + used;
  }
  if (!found && !key.empty()) text += ", \"" + key + "\": " + value;
  return text + "}]";
}

TEST(Spec, IsRead) {
  const std::vector<Mutant> mutants = parse_spec(spec("tests", "\"*.A\""), "op.json");
  ASSERT_EQ(mutants.size(), 1u);
  EXPECT_EQ(mutants[0].name, "m");
  EXPECT_EQ(mutants[0].original, "i < n");
  EXPECT_EQ(mutants[0].kind(), Kind::expression);
  EXPECT_EQ(mutants[0].tests, "*.A");
}

TEST(Spec, SaysOnceWhatMutantsShare) {
  const std::vector<Mutant> mutants = parse_spec(R"([
    {"file": "op/op.cu", "killed_by": "exact", "mutants": [
      {"original": "f();", "mutants": [
        {"name": "a", "mutant": "g();", "why": "g"},
        {"name": "b", "mutant": "", "killed_by": "poison", "why": "nothing"}
      ]},
      {"name": "c", "original": "i < n", "mutant": "true", "why": "no end"}
    ]},
    {"name": "d", "file": "op/op.h", "original": "x", "mutant": "y", "killed_by": "race", "why": "y"}
  ])",
                                                 "op.json");
  ASSERT_EQ(mutants.size(), 4u);
  const auto said = [&](std::size_t i) {
    return mutants[i].name + ": " + mutants[i].file + ", " + mutants[i].original + ", " +
           mutants[i].killed_by;
  };
  EXPECT_EQ(said(0), "a: op/op.cu, f();, exact");
  EXPECT_EQ(said(1), "b: op/op.cu, f();, poison");
  EXPECT_EQ(said(2), "c: op/op.cu, i < n, exact");
  EXPECT_EQ(said(3), "d: op/op.h, x, race");
  EXPECT_EQ(mutants[1].kind(), Kind::statement);
}

TEST(Spec, ErrorsNameFileMutantAndField) {
  const auto message = [](const std::string& key, const std::string& value) {
    return message_of([&] { parse_spec(spec(key, value), "op.json"); });
  };
  EXPECT_THAT(message("kill_by", "\"exact\""),
              HasSubstr("op.json: mutant 1: unknown key \"kill_by\""));
  EXPECT_THAT(message("why", ""), HasSubstr("op.json: mutant 1 has no \"why\""));
  EXPECT_THAT(message("file", "7"), HasSubstr("\"file\" is not a string"));
  EXPECT_THAT(message("killed_by", "\"luck\""), HasSubstr("killed_by is \"luck\"; the checks are"));
  EXPECT_THAT(message("name", "\"none\""), HasSubstr("is not \"none\""));
  EXPECT_THAT(message("name", "\"a b\""), HasSubstr("letters, digits and '_'"));
  EXPECT_THAT(message("mutant", "\"\""), HasSubstr("an expression needs a mutant"));
  EXPECT_THAT(message_of([] { parse_spec("{", "op.json"); }), HasSubstr("not a JSON array"));
  EXPECT_THAT(message_of([] { parse_spec("[7]", "op.json"); }),
              HasSubstr("op.json: mutant 1 is not an object"));
  EXPECT_THAT(message("mutants", "{}"), HasSubstr("not a JSON array"));
  const std::string one = spec();
  const std::string two = one.substr(0, one.size() - 1) + "," + one.substr(1);
  EXPECT_THAT(message_of([&] { parse_spec(two, "op.json"); }),
              HasSubstr("two mutants are called \"m\""));
}

TEST(Spec, OfAnOpMustBeThereAndLongEnough) {
  EXPECT_THAT(message_of([] { read_spec("/nowhere/op.json"); }),
              HasSubstr("/nowhere/op.json is missing"));
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("spec-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << spec();
  EXPECT_THAT(message_of([&] { read_spec(path); }),
              HasSubstr(".json: 1 mutants; an op has at least 8"));
  std::filesystem::remove(path);
}

TEST(Classify, TellsTheChecksApart) {
  EXPECT_EQ(check_of("C++ exception with description \"a.cu:7: [race] two threads\""), "race");
  EXPECT_EQ(check_of("[race] two threads\n[uninitialised] a read\n[out-of-bounds] a write"),
            "race");
  EXPECT_EQ(check_of("3 of 9 elements are wrong, 3 of them never written"), "poison");
  EXPECT_EQ(check_of("3 of 9 elements are wrong\n actual 1, expected 2, error 1, must be exact"),
            "exact");
  EXPECT_EQ(check_of("1 of 9 elements are wrong\n error 0.1 = 2 x tolerance 0.05"), "oracle");
  EXPECT_EQ(check_of("1 of 9 elements are wrong\n actual nan, expected 2"), "special");
  EXPECT_EQ(check_of("4 elements outside the view were written"), "hygiene");
  EXPECT_EQ(check_of("4 elements outside of y were written"), "hygiene");
  EXPECT_EQ(check_of("Expected equality of these values"), "value");
}

TEST(Classify, KnowsItsNames) {
  for (const char* name : {"exact", "race", "deadlock", "value"}) EXPECT_TRUE(is_check(name));
  EXPECT_FALSE(is_check("crash"));
  EXPECT_THAT(check_names(), HasSubstr("bounds, race, "));
}

TEST(Outcome, IsReadFromWhatTheProgramPrinted) {
  EXPECT_EQ(outcome_of("@started A.B\n@started A.C\n", 0).end, End::survived);
  EXPECT_EQ(outcome_of("@started A.B\n@started A.C\n", 0).tests, 2);

  const Outcome killed =
      outcome_of("@started A.B\nnoise\n@started A.C\n@failed t.cu:3\nmust be exact\n", 1);
  EXPECT_EQ(killed.end, End::killed);
  EXPECT_EQ(killed.test, "A.C");
  EXPECT_EQ(killed.check, "exact");

  const Outcome crashed = outcome_of("@started A.B\n", 139);
  EXPECT_EQ(crashed.end, End::crashed);
  EXPECT_EQ(crashed.test, "A.B");
  EXPECT_EQ(outcome_of("@started A.B\n", 124).end, End::timed_out);
  // A failure without a failed assertion is not a kill.
  EXPECT_EQ(outcome_of("@started A.B\n", 1).end, End::crashed);
}

TEST(Outcome, OfAProgramThatRefusesIsAnError) {
  EXPECT_THAT(message_of([] { outcome_of("", 2); }), HasSubstr("ended with 2 before"));
  EXPECT_EQ(outcome_of("", 1).tests, 0); // the filter left no test
}

} // namespace
} // namespace kg::mutants
