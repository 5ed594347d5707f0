// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#error                                                                                             \
    "Kernelgrade: nvcuda::wmma does not run on the host backend; use the wrappers of ptx/, which have host twins"
