// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the PyTorch header of the same name: the subset that kernel launchers use.
#pragma once

#include "cuda/source/torch/extension.h"
