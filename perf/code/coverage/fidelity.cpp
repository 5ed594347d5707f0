// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/coverage/fidelity.h"

#include "runtime/host/fidelity.h"

namespace kg::coverage {

std::string fidelity_text(const std::set<std::string>& inexact) {
  using host::Fidelity;
  std::string text;
  const auto part = [&](Fidelity fidelity, const char* meaning) {
    std::string names;
    for (const host::Inexact& one : host::kInexact)
      if (one.fidelity == fidelity && inexact.contains(std::string(one.name)))
        names += (names.empty() ? "" : ", ") + std::string(one.name);
    if (!names.empty()) text += (text.empty() ? "fidelity: " : "; ") + names + " " + meaning;
  };
  part(Fidelity::approximate, "(correctly rounded here, approximated on a GPU)");
  part(Fidelity::library, "(of the C library here, of CUDA's math library on a GPU)");
  part(Fidelity::tensor_core, "(adds one product at a time here, a tensor core rounds otherwise)");
  part(Fidelity::not_modelled, "(not modelled: nanoseconds of the CPU)");
  return text.empty() ? text : text + "\n";
}

} // namespace kg::coverage
