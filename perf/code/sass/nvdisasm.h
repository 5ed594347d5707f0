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

// What the variable KERNELGRADE_NVDISASM names, nothing where that is "none"; otherwise the first
// of PATH, of CUDA_HOME's bin, of /usr/local/cuda/bin, and of the package in `python3`. Empty where
// there is none. Throws Error where the variable names no file.
std::filesystem::path find_nvdisasm();

// What to say where there is none.
std::string nvdisasm_missing();

// The text of a cubin's code with the lines of its sources, for read_listing. Throws Error naming
// `file` where the program fails.
std::string disassemble(const std::filesystem::path& nvdisasm, std::string_view cubin,
                        const std::string& file);

} // namespace kg::sass
