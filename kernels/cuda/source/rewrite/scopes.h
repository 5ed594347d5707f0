// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The scope of a token: outside functions, in a host function, or in device code.
#pragma once

#include "cuda/source/rewrite/tokens.h"

#include <vector>

namespace kg::rewrite {

enum class Scope {
  outside,     // namespace scope: outside functions and classes
  host,        // in a function for the host, or in a class
  host_device, // in a function for both
  device,      // in a kernel or a device function
};

struct Scopes {
  std::vector<Scope> of;     // of each token; a brace belongs to the scope that it opens or closes
  std::vector<Scope> before; // before each token, and at the end
  bool balanced;             // whether all braces match; otherwise the scopes are unreliable
};

// Derived from the braces and the words before them. Nothing is preprocessed, so a brace or keyword
// inside a macro is missed. Each branch of an #if starts in the scope of the first branch.
Scopes scopes_of(const Tokens& tokens, const std::vector<Conditional>& conditionals);

// The index of the first token at or after `offset` in the file.
std::size_t token_at(const Tokens& tokens, std::size_t offset);

// The index of the token that closes the bracket ( [ or { at `open`, or tokens.size() if none does.
std::size_t closing(const Tokens& tokens, std::size_t open);

} // namespace kg::rewrite
