// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What of a program's arithmetic a GPU gives in other bits than the emulator.
#pragma once

#include <set>
#include <string>

namespace kg::coverage {

// One line that ends with a newline; empty where there is nothing to say. The names are those of
// runtime/host/fidelity.h.
std::string fidelity_text(const std::set<std::string>& inexact);

} // namespace kg::coverage
