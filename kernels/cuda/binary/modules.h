// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The device code that an nvcc-linked program registers before main(): its fat binaries, with the
// kernels and variables in them and the addresses by which the program refers to them.
#pragma once

#include "runtime/ptx/library.h"

#include "runtime/error.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::emulate {

// The PTX of one fat binary; the handle that CUDA's registration functions pass around.
struct Program;

// `wrapper` is written by nvcc (magic number, version, address of the fat binary).
Program* register_program(const void* wrapper);
// An image that cannot be loaded. Both APIs use the same codes: 200 for an invalid image, 209 for
// no PTX for this device, 218 for PTX that is invalid or for a newer device.
struct BadImage : Error {
  BadImage(int code, const std::string& why) : Error(why), code(code) {}
  int code;
};
// `image` is zero-terminated PTX text, a fat binary, or nvcc's wrapper of a fat binary. Throws
// BadImage. Never reads beyond readable memory.
Program* register_image(const void* image);
std::vector<std::string> kernel_names(const Program* program);
// Returns whether the program has a kernel of this name. If so, `address` then launches it.
bool register_kernel_if_there(Program* program, const void* address, const char* mangled);
void unregister_program(Program* program);
void register_kernel(Program* program, const void* address, const char* mangled);
void register_variable(Program* program, const void* address, const char* name, std::size_t bytes);

// A __managed__ variable: the host accesses it through a pointer, which place_managed() sets.
void register_managed(Program* program, void** pointer, const char* name);
// Throws Error if the program contains no PTX.
void place_managed(const Program* program);

// The kernel registered at this address, compiled on first use. Throws Error if none is registered
// or the emulator does not support it.
const ptx_run::LoadedKernel& kernel_at(const void* address);
int ptx_version_at(const void* address);          // of the kernel's PTX: 80 for compute_80
const char* mangled_name_at(const void* address); // lives as long as the program
std::string kernel_name_at(const void* address);  // readable

struct Variable {
  void* data;
  std::size_t bytes;
};
// The device copy of a __device__ or __constant__ variable. Throws Error if no variable is
// registered at this address.
Variable variable_at(const void* address);
// The program's variable of this name. Throws Error where there is none.
Variable variable_in(const Program* program, const std::string& name);

} // namespace kg::emulate
