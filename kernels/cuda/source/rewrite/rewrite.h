// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA C++ -> C++ for the host backend, as little of it as possible:
//   kernel<<<grid, block, shared, stream>>>(arguments)  ->  KG_KERNEL(kernel).at(...)(arguments)
//   extern __shared__ T name[];    ->  auto* const name = kg::dynamic_shared<T>();
//   __CUDA_ARCH__                  ->  what architecture.h says
//   new, delete, malloc and free in device code  ->  those of heap.h
//   inline PTX  ->  a message when it is compiled
// No line moves (the few that are added say by #line where they belong), so that compilers,
// debuggers and reports speak of the lines that were written.
#pragma once

#include "cuda/source/rewrite/architecture.h"

#include <functional>
#include <string>
#include <string_view>

namespace kg::rewrite {

// What stands for an included file (the name with its quotes or brackets): empty leaves it.
using Resolve = std::function<std::string(std::string_view name)>;

struct Result {
  std::string text;
  bool changed; // beyond the names of included files
};

// The rewritten `text` of `file`, in a project with these macros. `record`: as record.h says.
// Throws Error naming file, line and what is not understood.
Result rewrite(const std::string& file, std::string_view text, PassMacros& macros,
               const Resolve& resolve = {}, bool record = false);

} // namespace kg::rewrite
