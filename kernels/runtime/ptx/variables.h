// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Module variables (.global and .const) in device memory. Compiling a kernel that names a variable
// creates the variable. It lives as long as the process, because the module's kernels share it.
// Functions also have an address, which is the same in all kernels of the module.
#pragma once

#include "runtime/ptx/module.h"

#include <string>

namespace kg::ptx_run {

// Creates a variable with its initial value (default: zeros), or the address of a function. If the
// program has a variable of this name, that one is used. Throws Error if the module has no such
// variable or its initializer is not understood.
void make_variable(const Module& module, const std::string& name);

// Restores the initial values of the module's existing variables, at the same addresses. For a
// module that was unloaded and is loaded again.
void reset_variables(const Module& module);

} // namespace kg::ptx_run
