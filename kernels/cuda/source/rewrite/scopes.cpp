// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/rewrite/scopes.h"

#include <algorithm>

namespace kg::rewrite {
namespace {

bool opens(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }

// Skips the template parameter list at `i`, if there is one.
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

// The scope of the brace after tokens [begin, end), inside `around`. A class or a braced value
// counts as a host function: only the scopes of the functions in it matter.
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

std::size_t token_at(const Tokens& tokens, std::size_t offset) {
  const auto found =
      std::lower_bound(tokens.begin(), tokens.end(), offset,
                       [](const Token& token, std::size_t at) { return token.begin < at; });
  return static_cast<std::size_t>(found - tokens.begin());
}

namespace {

// Walks through the tokens and tracks the current scope.
struct Walk {
  struct Place {
    std::vector<Scope> open;
    Scope scope = Scope::outside;
    std::size_t statement = 0; // the first word that belongs to the next brace
  };

  struct Branches { // of an #if that is not closed yet
    Place begin;
    std::vector<std::size_t> depths; // brace depths at the end of each branch
  };

  const Tokens& tokens;
  Place place{};
  std::vector<Branches> branches{};
  bool balanced = true;

  // Returns the scope of the token itself.
  Scope pass(std::size_t i) {
    if (tokens[i].is("{")) {
      place.open.push_back(place.scope);
      place.scope = opened(tokens, place.statement, i, place.scope);
      place.statement = i + 1;
    }
    const Scope result = place.scope;
    if (tokens[i].is("}")) {
      balanced &= !place.open.empty();
      if (!place.open.empty()) {
        place.scope = place.open.back();
        place.open.pop_back();
      }
      place.statement = i + 1;
    } else if (tokens[i].is(";")) {
      place.statement = i + 1;
    }
    return result;
  }
  void pass(const Conditional& conditional) {
    if (conditional.opens()) {
      branches.push_back({place, {}});
      return;
    }
    if (branches.empty()) return; // an error that the preprocessor reports
    Branches& here = branches.back();
    here.depths.push_back(place.open.size());
    balanced &= here.depths.back() == here.depths.front();
    if (conditional.closes()) {
      branches.pop_back();
    } else {
      place = here.begin;
    }
  }
};

} // namespace

Scopes scopes_of(const Tokens& tokens, const std::vector<Conditional>& conditionals) {
  Scopes scopes;
  Walk walk{tokens};
  auto conditional = conditionals.begin();
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    while (conditional != conditionals.end() &&
           (i == tokens.size() || conditional->begin < tokens[i].begin)) {
      walk.pass(*conditional++);
    }
    scopes.before.push_back(walk.place.scope);
    if (i == tokens.size()) break;
    const std::size_t statement = walk.place.statement;
    scopes.of.push_back(walk.pass(i));
    if (!tokens[i].is("{")) continue;
    // Code between a constructor's parameters and its body belongs to the constructor.
    for (std::size_t k = statement + 1; k < i; ++k) {
      if (!tokens[k].is(":") || !tokens[k - 1].is(")")) continue;
      std::fill(scopes.of.begin() + static_cast<std::ptrdiff_t>(k), scopes.of.end(), scopes.of[i]);
      break;
    }
  }
  scopes.balanced = walk.balanced && walk.place.open.empty();
  return scopes;
}

} // namespace kg::rewrite
