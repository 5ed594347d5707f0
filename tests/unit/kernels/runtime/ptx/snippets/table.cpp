// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <set>
#include <stdexcept>

namespace kg::test::snippets {

const Table& table() {
  static const Table made = [] {
    Table all;
    for (const auto add : {add_integer, add_bits, add_floats, add_approximations, add_halves,
                           add_comparisons, add_conversions, add_moves, add_memory, add_updates,
                           add_warps, add_mbarriers, add_clusters, add_matrices, add_control})
      add(all);
    std::set<std::string> forms;
    for (const Snippet& each : all)
      if (!forms.insert(each.form).second) throw std::logic_error("two snippets of " + each.form);
    return all;
  }();
  return made;
}

const std::map<std::string, std::string>& exempt() {
  static const std::map<std::string, std::string> forms = {
      {"trap", "it ends the kernel"},
  };
  return forms;
}

} // namespace kg::test::snippets
