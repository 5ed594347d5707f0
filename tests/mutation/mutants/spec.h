// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The seeded bugs of an op, as listed in tests/ops/<op>/mutants.json.
//
// A spec is an array of objects of strings:
//   name       letters, digits and '_'; the value for KERNELGRADE_MUTANT
//   file       the source, relative to kernels/
//   after      optional: the search for `original` begins after this text, which occurs once
//   original   the correct code, which occurs once in the file (with `after`: the next occurrence),
//              a complete expression or a statement with its semicolon (whole.h); not the value of
//              a constant: a `const int` that can be one keeps the correct value (switch.h)
//   mutant     the wrong code; empty to remove a statement
//   killed_by  the check that is expected to find it, as named in classify.h
//   tests      optional: GoogleTest filter of the tests that are expected to find it; run first
//   why        the bug, in one sentence
// An enclosing object may state fields that its array `mutants` shares; they are defaults for the
// mutants in it. The outermost objects state `file`, where cmake/Mutants.cmake reads it. Any run of
// white space in `after` and `original` matches any other.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::mutants {

enum class Kind { expression, statement };

struct Mutant {
  std::string name, file, after, original, mutant;
  std::string killed_by{}, tests{}, why{};

  Kind kind() const { return original.ends_with(';') ? Kind::statement : Kind::expression; }
};

// Throws kg::Error naming `path` and the mutant for an invalid list: an unknown or missing key, a
// value out of range, a duplicate name, or fewer than kLeastMutants.
std::vector<Mutant> read_spec(const std::filesystem::path& path);

// The same for a spec's text; `path` is for messages, and any number of mutants is allowed.
std::vector<Mutant> parse_spec(const std::string& json, const std::string& path);

inline constexpr std::size_t kLeastMutants = 8;

// Characters [begin, end) of a source.
struct Place {
  std::size_t begin, end;
};

// The position of a mutant's original. Throws kg::Error naming mutant, file and count if it is not
// where the spec says, or not unique.
Place find_original(std::string_view source, const Mutant& mutant);

// Line number of a character, from 1.
int line_of(std::string_view source, std::size_t at);

} // namespace kg::mutants
