// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/not_supported.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kg::vendor {

// What a library's heuristic proposes for one problem, the best first. A proposal may turn out to
// be none only when it is executed; then the next takes its place for good.
template <class Algorithm>
class Proposals {
 public:
  // `none`: what is said where there are no proposals at all.
  Proposals(std::vector<Algorithm> ranked, std::string none)
      : ranked_(std::move(ranked)), refusal_(std::move(none)) {}

  // Calls with one proposal after another until one call does not throw NotSupported. Throws
  // NotSupported, with the words of the last, where every one did.
  template <class Call>
  void run(Call call) {
    for (; !ranked_.empty(); ranked_.erase(ranked_.begin())) {
      try {
        return call(ranked_.front());
      } catch (const NotSupported& error) {
        refusal_ = error.what();
      }
    }
    throw NotSupported(refusal_);
  }

  // The same, but the first time the first few that the library executes are timed, and the fastest
  // comes first from then on: heuristics err. `time_of` runs what it is given, waits for it and
  // returns how long it took. For calls that may be repeated: they read nothing that they write.
  template <class Call, class TimeOf>
  void run_fastest(Call call, TimeOf time_of) {
    if (!chosen_) choose(call, time_of);
    chosen_ = true;
    run(call);
  }

 private:
  static constexpr std::size_t kTried = 6;

  template <class Call, class TimeOf>
  void choose(Call call, TimeOf time_of) {
    if (ranked_.size() < 2) return;
    std::optional<std::size_t> fastest;
    double least = 0;
    std::size_t tried = 0;
    for (std::size_t i = 0; i < ranked_.size() && tried < kTried; ++i) {
      try {
        call(ranked_[i]); // loads, and may compile
        const double ns = time_of([&] { call(ranked_[i]); });
        if (!fastest || ns < least) {
          fastest = i;
          least = ns;
        }
        ++tried;
      } catch (const NotSupported& error) {
        refusal_ = error.what();
      }
    }
    const auto first = ranked_.begin() + static_cast<std::ptrdiff_t>(fastest.value_or(0));
    std::rotate(ranked_.begin(), first, std::next(first));
  }

  std::vector<Algorithm> ranked_;
  std::string refusal_;
  bool chosen_ = false;
};

} // namespace kg::vendor
