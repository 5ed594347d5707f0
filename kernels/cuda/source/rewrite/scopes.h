// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a token stands: outside functions, in a host function, or in device code.
#pragma once

#include "cuda/source/rewrite/tokens.h"

#include <vector>

namespace kg::rewrite {

enum class Scope {
  outside,     // of functions and classes: namespaces
  host,        // in a function for the host, or in a class
  host_device, // in one for both
  device,      // in a kernel or a device function
};

struct Scopes {
  std::vector<Scope> of;     // each token; a brace is inside what it opens or closes
  std::vector<Scope> before; // each token, and at the end
  bool balanced;             // every brace has its other; else nothing of this is certain
};

// Told from the braces and the words before them: nothing is compiled, so a macro that hides a
// brace or a keyword hides it from this, too. Each branch of an #if begins where the first one did.
Scopes scopes_of(const Tokens& tokens, const std::vector<Conditional>& conditionals);

// The index of the first token at or behind `offset` of the file.
std::size_t token_at(const Tokens& tokens, std::size_t offset);

// The index of the token that closes the bracket at `open`: one of ( [ {. tokens.size() if none.
std::size_t closing(const Tokens& tokens, std::size_t open);

} // namespace kg::rewrite
