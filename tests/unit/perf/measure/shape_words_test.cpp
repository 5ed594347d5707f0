// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The shapes that each operation lists, with their words misspelt, repeated, reordered and set to
// 0: a case made of such a shape would be measured under the name of another.
#include "perf/measure/suite.h"
#include "runtime/error.h"
#include "runtime/stream.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace kg::perf {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& shape) {
  Words words(1);
  for (const char c : shape) c == '_' ? void(words.emplace_back()) : words.back().push_back(c);
  return words;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "rows0" of "rows32"; empty where the word ends in no number.
std::string zeroed(const std::string& word) {
  const auto number = std::find_if_not(word.rbegin(), word.rend(), is_digit).base();
  if (number == word.end() || number == word.begin()) return "";
  return std::string(word.begin(), number) + "0";
}

class ShapeWords : public testing::TestWithParam<Operation> {
 protected:
  Case make(const Words& words) const {
    const std::string text = fmt::format("{}", fmt::join(words, "_"));
    return GetParam().make(GetParam().dtypes.front(), Shape::parse(text));
  }

  // With words that say what is wrong.
  void expect_refused(const Words& words, const std::string& said) const {
    try {
      make(words);
      ADD_FAILURE() << fmt::format("{}", fmt::join(words, "_")) << " is accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }

  template <class Check>
  void for_each_shape(Check check) const {
    ASSERT_FALSE(GetParam().shapes.empty());
    for (const ListedShape& shape : GetParam().shapes) check(words_of(shape.text));
  }
};

TEST_P(ShapeWords, ListedShapesAreRight) {
  for_each_shape([&](const Words& words) { EXPECT_NO_THROW(make(words)); });
}

TEST_P(ShapeWords, UnknownWordsAreRefusedAndTheAcceptedNamed) {
  for_each_shape([&](Words words) {
    words.push_back("zzz");
    expect_refused(words, "'zzz' is not a parameter");
    expect_refused(words, " takes: ");
    words.back() = "zzz7";
    expect_refused(words, "'zzz7' is not a parameter");
  });
}

TEST_P(ShapeWords, RepeatedWordsAreRefused) {
  for_each_shape([&](const Words& words) {
    for (const std::string& word : words) {
      Words repeated = words;
      repeated.push_back(word);
      expect_refused(repeated, "keep one");
    }
  });
}

TEST_P(ShapeWords, ReorderedWordsAreRefused) {
  for_each_shape([&](const Words& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      for (std::size_t j = i + 1; j < words.size(); ++j) {
        Words reordered = words;
        std::swap(reordered[i], reordered[j]);
        expect_refused(reordered, "shape '");
      }
  });
}

// The first word of other shapes, its function or kind, at the end.
TEST_P(ShapeWords, ContradictoryWordsAreRefused) {
  for_each_shape([&](const Words& words) {
    for (const ListedShape& other : GetParam().shapes) {
      const std::string form = words_of(other.text).front();
      if (std::any_of(form.begin(), form.end(), is_digit)) continue;
      Words contradictory = words;
      contradictory.push_back(form);
      expect_refused(contradictory, "");
    }
  });
}

TEST_P(ShapeWords, ZerosAreRefusedOrRun) {
  for_each_shape([&](const Words& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      Words empty = words;
      empty[i] = zeroed(words[i]);
      if (empty[i].empty() || empty[i] == words[i]) continue;
      Case made;
      try {
        made = make(empty);
      } catch (const Error&) {
        continue;
      }
      ASSERT_FALSE(made.variants.empty());
      Stream stream;
      EXPECT_NO_THROW({
        made.variants.front().make().run(stream);
        stream.synchronize();
      }) << fmt::format("{}", fmt::join(empty, "_"));
    }
  });
}

// Of our variants and of libraries.
TEST_P(ShapeWords, TimedExecutionsParseNoShape) {
  Stream stream;
  for_each_shape([&](const Words& words) {
    for (const Variant& variant : make(words).variants) {
      if (!variant.timed || variant.compiled_at_run_time) continue;
      const Workload work = variant.make();
      work.run(stream);
      const std::int64_t before = Shape::parses();
      work.run(stream);
      stream.synchronize();
      EXPECT_EQ(Shape::parses() - before, 0)
          << fmt::format("{} {}", fmt::join(words, "_"), variant.name);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, ShapeWords, testing::ValuesIn(operations()),
                         [](const auto& operation) { return operation.param.name; });

} // namespace
} // namespace kg::perf
