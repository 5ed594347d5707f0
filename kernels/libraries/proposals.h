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

// The algorithms that a library's heuristic proposes for one problem, best first. Some turn out to
// be unsupported only when they are executed. They are then dropped for the next one.
template <class Algorithm>
class Proposals {
 public:
  // `none`: the message if there are no proposals.
  Proposals(std::vector<Algorithm> ranked, std::string none)
      : ranked_(std::move(ranked)), refusal_(std::move(none)) {}

  // Calls with one proposal after another until a call does not throw NotSupported. If all of them
  // throw, throws NotSupported with the last message.
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

  // The same, but the first call times the first few proposals that the library can execute, and
  // puts the fastest first, since heuristics err. `time_of` runs its argument, waits for it and
  // returns its time. Only for repeatable calls, which do not read what they write.
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
        call(ranked_[i]); // warm-up: loads, and may compile
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
