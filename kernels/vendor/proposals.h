// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/not_supported.h"

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

 private:
  std::vector<Algorithm> ranked_;
  std::string refusal_;
};

} // namespace kg::vendor
