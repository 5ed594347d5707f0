// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/proposals.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kg::vendor {
namespace {

// A library that executes the even proposals alone.
struct Library {
  void operator()(int proposal) {
    tried.push_back(proposal);
    if (proposal % 2 != 0) throw NotSupported("no engine " + std::to_string(proposal));
  }
  std::vector<int> tried;
};

TEST(Proposals, TheFirstThatTheLibraryExecutesIsTakenAndRemembered) {
  Proposals<int> proposals({3, 1, 4, 6}, "none");
  Library library;
  const auto call = [&](int proposal) { library(proposal); };
  proposals.run(call);
  EXPECT_EQ(library.tried, (std::vector{3, 1, 4}));
  proposals.run(call);
  EXPECT_EQ(library.tried, (std::vector{3, 1, 4, 4})) << "what was refused is not tried again";
}

TEST(Proposals, WhereAllAreRefusedTheLastWordsStay) {
  Proposals<int> proposals({3, 1}, "none");
  Library library;
  for (int i = 0; i < 2; ++i) try {
      proposals.run([&](int proposal) { library(proposal); });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const NotSupported& error) {
      EXPECT_STREQ(error.what(), "no engine 1");
    }
  EXPECT_EQ(library.tried.size(), 2u);
  EXPECT_THROW(Proposals<int>({}, "none").run([](int) {}), NotSupported);
}

// Takes the nanoseconds that stand for a proposal; refuses the odd ones.
struct TimedLibrary {
  void operator()(int proposal) {
    Library()(proposal);
    tried.push_back(proposal);
    now += proposal;
  }
  double time_of(const std::function<void()>& call) {
    const double start = now;
    call();
    return now - start;
  }
  std::vector<int> tried;
  double now = 0;
};

TEST(Proposals, TheFastestOfTheFirstFewIsTimedOnceAndRemembered) {
  Proposals<int> proposals({40, 3, 20, 30, 50, 60, 70, 2}, "none");
  TimedLibrary library;
  const auto run = [&] {
    library.tried.clear();
    proposals.run_fastest([&](int proposal) { library(proposal); },
                          [&](const auto& call) { return library.time_of(call); });
  };
  run();
  EXPECT_EQ(library.tried, (std::vector{40, 40, 20, 20, 30, 30, 50, 50, 60, 60, 70, 70, 20}))
      << "each once before it is timed; the eighth is not tried";
  run();
  EXPECT_EQ(library.tried, std::vector{20});
}

TEST(Proposals, OneAloneIsNotTimedAndWithoutAnyTheLastWordsStay) {
  TimedLibrary library;
  const auto time_of = [&](const auto& call) { return library.time_of(call); };
  Proposals<int>({8}, "none").run_fastest([&](int proposal) { library(proposal); }, time_of);
  EXPECT_EQ(library.tried, std::vector{8});
  Proposals<int> refused({1, 3}, "none");
  try {
    refused.run_fastest([&](int proposal) { library(proposal); }, time_of);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const NotSupported& error) {
    EXPECT_STREQ(error.what(), "no engine 3");
  }
}

// A wrong call is no lack of the library.
TEST(Proposals, AnotherErrorEndsTheSearch) {
  Proposals<int> proposals({1, 2}, "none");
  int calls = 0;
  EXPECT_THROW(proposals.run([&](int) {
    ++calls;
    throw Error("a wrong argument");
  }),
               Error);
  EXPECT_EQ(calls, 1);
}

} // namespace
} // namespace kg::vendor
