// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A snippet's kernel on whatever device there is: on the host backend the executor, which runs the
// PTX as C++; on a GPU, whose driver compiles it.
#pragma once

#include "tests/unit/kernels/runtime/ptx/snippets/snippet.h"

#include <vector>

namespace kg::test::snippets {

// Why this device does not run it; empty: it does.
std::string not_for_this_device(const Snippet& snippet);

// The results of all lanes of `operands`.
std::vector<Word> run(const Snippet& snippet, const std::vector<Word>& operands);

} // namespace kg::test::snippets
