# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Inline assembly is allowed only in kernels/instructions/, with one thin wrapper per instruction family and an equivalent for the host, and
# in the host's stack switch. A kernel with its own assembly would not run on the host. An empty asm statement that keeps a value alive is
# allowed.
cmake_minimum_required(VERSION 3.25)
# The last four: input of the rewriter's test, symbol names, and a program independent of this project.
set(allowed "^(kernels/instructions/|kernels/runtime/host/fiber[.]h$|tests/unit/kernels/cuda/source/rewrite_test[.]cpp$|tests/unit/perf/code/identity/tiny_numbered[.]cpp$|kernels/cuda/binary/(export[.]h|static_cudart[.]cpp)$|tests/unit/kernels/cuda/binary/(tensor_map|im2col)[.]cu$)")

set(files "")
foreach(folder IN ITEMS kernels tests perf)
  file(GLOB_RECURSE more RELATIVE ${SOURCE} ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.cpp ${SOURCE}/${folder}/*.cu)
  list(APPEND files ${more})
endforeach()
if(NOT files)
  message(FATAL_ERROR "${SOURCE}: no sources")
endif()
foreach(file IN LISTS files)
  file(STRINGS ${SOURCE}/${file} lines REGEX "(^|[^a-zA-Z0-9_])(asm|__asm|__asm__)([ \t]+(volatile|__volatile__|goto|inline))*[ \t]*(\\(|$)")
  foreach(line IN LISTS lines)
    string(STRIP "${line}" line)
    # Comments may mention asm.
    if(NOT file MATCHES "${allowed}" AND NOT line MATCHES "^//" AND NOT line MATCHES "asm volatile\\(\"\" :")
      message(SEND_ERROR "${file}: ${line}: put the instruction into kernels/instructions/")
    endif()
  endforeach()
endforeach()
list(LENGTH files number)
message("${number} files looked at")
