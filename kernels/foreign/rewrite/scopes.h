// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a token stands: outside functions, in a host function, or in device code.
#pragma once

#include "foreign/rewrite/tokens.h"

#include <vector>

namespace kg::rewrite {

enum class Scope {
  outside,     // of functions and classes: namespaces
  host,        // in a function for the host, or in a class
  host_device, // in one for both
  device,      // in a kernel or a device function
};

// The scope of each token, told from the braces and the words before them: nothing is compiled, so
// a macro that hides a brace or a keyword hides it from this, too.
std::vector<Scope> scopes_of(const Tokens& tokens);

// The index of the token that closes the bracket at `open`: one of ( [ {. tokens.size() if none.
std::size_t closing(const Tokens& tokens, std::size_t open);

} // namespace kg::rewrite
