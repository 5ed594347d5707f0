// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations whose emulated results are not bit-identical to a GPU's. The emulator notes each such
// operation when it executes, and a summary names them.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

namespace kg::host {

enum class Fidelity {
  approximate, // correctly rounded here; a GPU's result has a documented error
  library,     // the C library's function; CUDA's differs in the last digits
  tensor_core, // products are added sequentially here
  not_modelled // a clock
};

struct Inexact {
  std::string_view name; // as in PTX or CUDA C++
  Fidelity fidelity;
};

inline constexpr auto kInexact = [] {
  using enum Fidelity;
  return std::to_array<Inexact>({
      // PTX
      {"ex2.approx", approximate},
      {"lg2.approx", approximate},
      {"rcp.approx", approximate},
      {"rsqrt.approx", approximate},
      {"sqrt.approx", approximate},
      {"div.approx", approximate},
      {"div.full", approximate},
      {"sin.approx", approximate},
      {"cos.approx", approximate},
      {"tanh.approx", approximate},
      // CUDA C++
      {"__expf", approximate},
      {"__exp10f", approximate},
      {"__logf", approximate},
      {"__log2f", approximate},
      {"__log10f", approximate},
      {"__sinf", approximate},
      {"__cosf", approximate},
      {"__tanf", approximate},
      {"__sincosf", approximate},
      {"__powf", approximate},
      {"__tanhf", approximate},
      {"__fdividef", approximate},
      {"fdividef", approximate},
      {"rsqrtf", approximate},
      {"rsqrt", approximate},
      {"hexp", approximate},
      {"hexp2", approximate},
      {"hexp10", approximate},
      {"hlog", approximate},
      {"hlog2", approximate},
      {"hlog10", approximate},
      {"hsin", approximate},
      {"hcos", approximate},
      {"htanh", approximate},
      {"hrcp", approximate},
      {"hrsqrt", approximate},
      {"h2exp", approximate},
      {"h2exp2", approximate},
      {"h2exp10", approximate},
      {"h2log", approximate},
      {"h2log2", approximate},
      {"h2log10", approximate},
      {"h2sin", approximate},
      {"h2cos", approximate},
      {"h2tanh", approximate},
      {"h2rcp", approximate},
      {"h2rsqrt", approximate},
      {"exp", library},
      {"expf", library},
      {"exp2", library},
      {"exp2f", library},
      {"exp10", library},
      {"exp10f", library},
      {"expm1", library},
      {"expm1f", library},
      {"log", library},
      {"logf", library},
      {"log2", library},
      {"log2f", library},
      {"log10", library},
      {"log10f", library},
      {"log1p", library},
      {"log1pf", library},
      {"sin", library},
      {"sinf", library},
      {"cos", library},
      {"cosf", library},
      {"tan", library},
      {"tanf", library},
      {"sincos", library},
      {"sincosf", library},
      {"sinpif", library},
      {"cospif", library},
      {"asin", library},
      {"asinf", library},
      {"acos", library},
      {"acosf", library},
      {"atan", library},
      {"atanf", library},
      {"atan2", library},
      {"atan2f", library},
      {"sinh", library},
      {"sinhf", library},
      {"cosh", library},
      {"coshf", library},
      {"tanh", library},
      {"tanhf", library},
      {"pow", library},
      {"powf", library},
      {"cbrt", library},
      {"cbrtf", library},
      {"erf", library},
      {"erff", library},
      {"erfc", library},
      {"erfcf", library},
      {"lgammaf", library},
      {"tgammaf", library},
      // Both
      {"mma", tensor_core},
      {"clock", not_modelled},
      {"clock64", not_modelled},
      {"globaltimer", not_modelled},
  });
}();

// Index in kInexact; kInexact.size() if the name is not in it.
constexpr std::size_t inexact(std::string_view name) {
  std::size_t i = 0;
  while (i < kInexact.size() && kInexact[i].name != name) ++i;
  return i;
}

using InexactSet = std::bitset<kInexact.size()>;

// Can be called from any thread; cheap if already noted.
void note_inexact(std::size_t place) noexcept;
void note_inexact(const InexactSet& set) noexcept;
// Returns the operations noted for the first time since the last call.
InexactSet take_inexact();

} // namespace kg::host
