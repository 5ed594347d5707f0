// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names the arithmetic whose bits differ between a GPU and the emulator.
#pragma once

#include <set>
#include <string>

namespace kg::coverage {

// One line that ends with a newline; empty if `inexact` is empty. The names are those of
// runtime/host/fidelity.h.
std::string fidelity_text(const std::set<std::string>& inexact);

} // namespace kg::coverage
