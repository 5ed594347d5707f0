// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The table: the instructions of PTX that the kernels of this project, and the idioms of public
// CUDA code (tests/unit/kernels/runtime/ptx/idioms), are made of.
#pragma once

#include "tests/unit/kernels/runtime/ptx/snippets/snippet.h"

#include <map>
#include <string>
#include <vector>

namespace kg::test::snippets {

using Table = std::vector<Snippet>;

// All of them, each form once.
const Table& table();

// Forms that have no snippet, and why.
const std::map<std::string, std::string>& exempt();

// Each family adds its own (integer.cpp, bits.cpp, ...).
void add_carries(Table& table);
void add_integer(Table& table);
void add_bits(Table& table);
void add_floats(Table& table);
void add_approximations(Table& table);
void add_halves(Table& table);
void add_comparisons(Table& table);
void add_conversions(Table& table);
void add_moves(Table& table);
void add_memory(Table& table);
void add_updates(Table& table);
void add_warps(Table& table);
void add_mbarriers(Table& table);
void add_clusters(Table& table);
void add_matrices(Table& table);
void add_control(Table& table);

// f(T{}, "u32") for each of these types.
template <class... T, class Function>
void for_types(const Function& f) {
  (f(T{}, std::string(Type<T>::name)), ...);
}

} // namespace kg::test::snippets
