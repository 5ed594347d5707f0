// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks that a mutant's original is a complete part of its source, so that it can be put in
// brackets. Uses tokens only, for sources formatted by clang-format: spaces around a binary `<`,
// none before the `<` of template arguments. A compiler would be more precise, but takes minutes
// for all specs.
#pragma once

#include <string>
#include <string_view>

#include "tests/mutation/mutants/spec.h"

namespace kg::mutants {

// Empty, or why characters `place` of `source` are not a complete expression or statement: brackets
// that do not match; an adjacent operator that binds tighter than one inside (`a + b` of `a + b *
// c`); a declaration, whose name would end with the branch; a constant, which a run-time choice
// cannot be.
std::string why_not_whole(std::string_view source, Place place, Kind kind);

} // namespace kg::mutants
