// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Texture fetches for code translated from PTX (prelude.h). The CUDA runtime locates and filters
// texels (cuda/binary/textures.cpp). The kernel's own code loads them, so that the checkers see the
// loads.
#pragma once

#include "runtime/ptx/integers.h"
#include "runtime/ptx/where.h"

namespace kg::ptx_run {

using LoadChannel = u32 (*)(const void* from, u32 bytes); // zero-extended

// One fetch from a texture object of one or two dimensions. at: one coordinate per dimension, as
// the bits of an f32, or of an s32 for texel indices. channels: 's', 'u' or 'f', the type of the
// four 32-bit values in `out`. Channels that the texture lacks are 0.
void fetch_texture(u32* out, u64 object, const u32* at, u32 dimensions, bool by_index,
                   char channels, LoadChannel load, Where where);

} // namespace kg::ptx_run
