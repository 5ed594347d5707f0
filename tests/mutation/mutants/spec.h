// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The seeded bugs of an op, as tests/ops/<op>/mutants.json lists them.
//
// A spec is an array of objects of strings:
//   name       letters, digits and '_'; what KERNELGRADE_MUTANT selects
//   file       the source, relative to kernels/
//   after      optional: the search for `original` begins behind this text, which occurs once
//   original   the right code, which occurs once in the file (with `after`: the next occurrence),
//              a whole expression or a statement with its semicolon (whole.h), not the value of a
//              constant: a `const int` that can be one keeps the right value (switch.h)
//   mutant     the wrong code; may be empty where a statement is removed
//   killed_by  the check that is expected to find it, as classify.h names them
//   tests      optional: GoogleTest filter of the tests that are expected to find it, run first
//   why        the bug, in a sentence
// What several mutants share is said once, by an object around them that has them as its array
// `mutants`: it speaks for those that do not say it themselves. `file` is said by the outermost
// objects, where cmake/Mutants.cmake reads it.
// Any run of white space in `after` and `original` stands for any other.
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

// Throws kg::Error, which names `path` and the mutant, for what is not such a list: a key that is
// unknown or missing, a value out of range, a name that occurs twice, fewer than kLeastMutants.
std::vector<Mutant> read_spec(const std::filesystem::path& path);

// The same of a spec's text; `path` is for messages, and the number of mutants is free.
std::vector<Mutant> parse_spec(const std::string& json, const std::string& path);

inline constexpr std::size_t kLeastMutants = 8;

// Characters [begin, end) of a source.
struct Place {
  std::size_t begin, end;
};

// Where a mutant's original is. Throws kg::Error naming mutant, file and count when it is not where
// the spec says, or not unique.
Place find_original(std::string_view source, const Mutant& mutant);

// Line of a character, from 1.
int line_of(std::string_view source, std::size_t at);

} // namespace kg::mutants
