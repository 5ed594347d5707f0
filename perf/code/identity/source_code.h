// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Normalizes source text so that formatting and comments do not change it.
#pragma once

#include "runtime/hash.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

// C++ without comments, without white space that separates no tokens, and without #include lines;
// the caller hashes included files separately. Literals are unchanged. Any two texts that differ in
// a token have different results. Ignores changes of __LINE__.
std::string source_code(std::string_view text);

// Adds files to a hash. Their folders and order do not affect the result.
class SourceHash {
 public:
  // The ending of `name` determines the treatment of `text`: C++ passes through source_code(), all
  // else is hashed byte by byte.
  void add(std::string_view name, std::string_view text);
  void into(Hash& hash);

 private:
  std::vector<std::string> texts_;
};

} // namespace kg::identity
