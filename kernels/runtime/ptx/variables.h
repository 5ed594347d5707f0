// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variables of modules (.global and .const) in device memory. Each is made when a kernel that
// names it is compiled, and lives as long as the process: its kernels share it. Functions have an
// address likewise, by which all kernels of the module know them.
#pragma once

#include "runtime/ptx/module.h"

#include <string>

namespace kg::ptx_run {

// Makes the variable, or the function's address: the variable with its initial value, zeros where
// it has none. Of a name that the program has as well, its own is taken. Throws Error where the
// module has no such variable, or an initialiser that is not understood.
void make_variable(const Module& module, const std::string& name);

// Gives those of the module's variables that were made their initial values again, at the same
// addresses: the module was unloaded, and is loaded anew.
void reset_variables(const Module& module);

} // namespace kg::ptx_run
