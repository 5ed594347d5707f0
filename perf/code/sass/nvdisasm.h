// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// nvdisasm, NVIDIA's disassembler: part of the CUDA toolkit, and PyPI's package
// nvidia-cuda-nvdisasm.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kg::sass {

// The program that the variable KERNELGRADE_NVDISASM names; empty if it is "none". Otherwise the
// first found in PATH, CUDA_HOME/bin, /usr/local/cuda/bin and the package in `python3`; empty if
// there is none. Throws Error if the variable names no file.
std::filesystem::path find_nvdisasm();

// The message if nvdisasm is not found.
std::string nvdisasm_missing();

// A cubin's disassembly with source lines, for read_listing. Throws Error with `file` if nvdisasm
// fails.
std::string disassemble(const std::filesystem::path& nvdisasm, std::string_view cubin,
                        const std::string& file);

} // namespace kg::sass
