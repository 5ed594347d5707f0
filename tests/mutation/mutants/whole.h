// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a mutant's original is a whole part of its source, so that it can stand in brackets of
// its own. Judged by tokens alone, for sources as clang-format leaves them: spaces around a binary
// `<`, none before the `<` of template arguments. A compiler says more, but takes minutes for all
// specs.
#pragma once

#include <string>
#include <string_view>

#include "tests/mutation/mutants/spec.h"

namespace kg::mutants {

// Empty, or why characters `place` of `source` are no whole expression or statement: brackets that
// do not match; an operator beside them that binds tighter than one of theirs (`a + b` of
// `a + b * c`); a declaration, whose name would end with the branch; a constant, which no choice at
// run time can be.
std::string why_not_whole(std::string_view source, Place place, Kind kind);

} // namespace kg::mutants
