// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#error                                                                                             \
    "Kernelgrade: cuRAND's device functions do not run on the host backend; fill the numbers on the host and pass the pointer"
