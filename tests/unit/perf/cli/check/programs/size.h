// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifndef SIZE
#define SIZE 64
#endif
