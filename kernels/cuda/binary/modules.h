// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program that nvcc linked registers before main(): its fat binaries, and the kernels and
// variables in them, by the addresses that the program knows them by.
#pragma once

#include "runtime/ptx/library.h"

#include "runtime/error.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kg::emulate {

// One fat binary's PTX. The handle that CUDA's registration passes around.
struct Program;

// Of `wrapper`, which nvcc writes (magic number, version, the fat binary's address).
Program* register_program(const void* wrapper);
// An image that is not loaded. The code is CUDA's, the same in both APIs: 200 an invalid image, 209
// no PTX for this device, 218 PTX that is broken or for a newer device.
struct BadImage : Error {
  BadImage(int code, const std::string& why) : Error(why), code(code) {}
  int code;
};
// Of PTX as text that ends with a zero, of a fat binary, or of nvcc's wrapper of one. Throws
// BadImage. Never looks behind the memory that is readable.
Program* register_image(const void* image);
std::vector<std::string> kernel_names(const Program* program);
// Whether the program has a kernel of this name; then `address` is what it is launched by.
bool register_kernel_if_there(Program* program, const void* address, const char* mangled);
void unregister_program(Program* program);
void register_kernel(Program* program, const void* address, const char* mangled);
void register_variable(Program* program, const void* address, const char* name, std::size_t bytes);

// A __managed__ variable: the host knows it by a pointer, which place_managed() writes.
void register_managed(Program* program, void** pointer, const char* name);
// Throws Error where the program holds no PTX.
void place_managed(const Program* program);

// The kernel that a program knows by this address, compiled when it is first asked for. Throws
// Error where it is not registered, or is not executed.
const ptx_run::LoadedKernel& kernel_at(const void* address);
const char* mangled_name_at(const void* address); // lives as long as the program
std::string kernel_name_at(const void* address);  // readable

struct Variable {
  void* data;
  std::size_t bytes;
};
// The device's copy of a __device__ or __constant__ variable. Throws Error where the address is
// none's.
Variable variable_at(const void* address);
// The program's variable of this name. Throws Error where there is none.
Variable variable_in(const Program* program, const std::string& name);

} // namespace kg::emulate
