// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "foreign/rewrite/scopes.h"

namespace kg::rewrite {
namespace {

bool opens(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }

// Past the template parameter list that may stand at `i`.
std::size_t skip_template(const Tokens& tokens, std::size_t i, std::size_t end) {
  while (i + 1 < end && tokens[i].is("template") && tokens[i + 1].is("<")) {
    int depth = 0;
    for (++i; i < end; ++i) {
      if (opens(tokens[i])) i = closing(tokens, i);
      if (i < end && tokens[i].is("<")) ++depth;
      if (i < end && tokens[i].is(">") && --depth == 0) break;
    }
    ++i;
  }
  return i;
}

// What the brace after tokens [begin, end) opens, when it stands in `around`. A class, or a value
// in braces, counts as a host function: only what its functions are matters.
Scope opened(const Tokens& tokens, std::size_t begin, std::size_t end, Scope around) {
  bool global = false, device = false, host = false;
  for (std::size_t i = skip_template(tokens, begin, end); i < end; ++i) {
    const Token& token = tokens[i];
    global |= token.is("__global__");
    device |= token.is("__device__");
    host |= token.is("__host__");
    const bool linkage = token.is("extern") && i + 2 == end && tokens[i + 1].kind == Kind::literal;
    if (token.is("namespace") || linkage) return around;
    if (token.is("(")) i = closing(tokens, i);
  }
  if (global || (device && !host)) return Scope::device;
  if (device) return Scope::host_device;
  return around == Scope::outside ? Scope::host : around;
}

} // namespace

std::size_t closing(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (opens(tokens[i])) ++depth;
    if (closes(tokens[i]) && --depth == 0) return i;
  }
  return tokens.size();
}

std::vector<Scope> scopes_of(const Tokens& tokens) {
  std::vector<Scope> result(tokens.size());
  std::vector<Scope> open;
  Scope scope = Scope::outside;
  std::size_t statement = 0; // where the words that belong to the next brace begin
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("{")) {
      open.push_back(scope);
      scope = opened(tokens, statement, i, scope);
      statement = i + 1;
    }
    result[i] = scope;
    if (tokens[i].is("}")) {
      if (!open.empty()) {
        scope = open.back();
        open.pop_back();
      }
      statement = i + 1;
    } else if (tokens[i].is(";")) {
      statement = i + 1;
    }
  }
  return result;
}

} // namespace kg::rewrite
