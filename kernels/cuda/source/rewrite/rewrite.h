// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts CUDA C++ to C++ for the emulator, with as few changes as possible:
//   kernel<<<grid, block, shared, stream>>>(arguments)  ->  KG_KERNEL(kernel).at(...)(arguments)
//   extern __shared__ T name[];    ->  auto* const name = kg::dynamic_shared<T>();
//   __CUDA_ARCH__                  ->  see architecture.h
//   new, delete, malloc and free in device code  ->  the functions of heap.h
//   inline PTX  ->  an error when the code is compiled
// Lines keep their numbers (a few added lines use #line), so that compilers, debuggers and reports
// refer to the original source.
#pragma once

#include "cuda/source/rewrite/architecture.h"

#include <functional>
#include <string>
#include <string_view>

namespace kg::rewrite {

// The replacement for an included file (given with its quotes or brackets); empty: unchanged.
using Resolve = std::function<std::string(std::string_view name)>;

struct Result {
  std::string text;
  bool changed; // apart from the names of included files
};

// Rewrites the `text` of `file`, in a project with these macros. `record`: see record.h. Throws
// Error with the file, the line and the construct that is not understood.
Result rewrite(const std::string& file, std::string_view text, PassMacros& macros,
               const Resolve& resolve = {}, bool record = false);

} // namespace kg::rewrite
