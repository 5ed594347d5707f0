// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a source file says to the compiler, as text that formatting and comments do not change.
#pragma once

#include "runtime/hash.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::identity {

// C++ without comments, without the white space that separates no tokens, and without #include
// lines: whoever hashes a file hashes what the file includes, too. Literals stay as they are. The
// result distinguishes any two texts that differ in a token; __LINE__ is not followed.
std::string source_code(std::string_view text);

// Adds files to a hash, whatever folders they lie in and whatever order they come in.
class SourceHash {
 public:
  // `name` says by its ending what `text` is: C++ goes through source_code(), all else is taken
  // byte for byte.
  void add(std::string_view name, std::string_view text);
  void into(Hash& hash);

 private:
  std::vector<std::string> texts_;
};

} // namespace kg::identity
