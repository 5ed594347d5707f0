// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The same operations by the libraries that people trust: cuBLAS, cuDNN, Thrust and CUB on cuda;
// OpenBLAS, oneDNN and Thrust's host back end on host. Plain C++: pointers are device pointers
// (host pointers on the host backend), types are named by Dtype, so that no library header and no
// device vector type meets another.
//
// Streams: on cuda every function enqueues on `stream`, except Thrust's reductions, which wait for
// it (Thrust returns their results to the caller). To capture a call into a graph, make the same
// call once before on the same thread and stream: the first one creates the library's handle and
// the workspace. On the host the libraries run at once: a stream that is being captured does not
// record them.
//
// Threads on the host: each library's own default, one per CPU that it may use
// (OPENBLAS_NUM_THREADS, OMP_NUM_THREADS and the like are obeyed).
//
// Each operation has a header here: <op>.h offers the call, and the table of the variants that
// exist on this backend, whose `names` for a problem (variants.h; none: no vendor has it, the
// oracle stands alone) need no device. Arguments mean what they mean in the operation's own header.
// Inputs and outputs must not overlap.
//
// Errors: every function throws Error naming the argument when it is out of range, listing the
// names that exist when the variant has none of that name for the type, and with the library's own
// words when the library refuses.
#pragma once

#include <string>
#include <vector>

namespace kg::vendor {

// A library this build is linked with, and the version it runs with (Thrust and CUB: was compiled
// with). Needs no device.
struct Library {
  std::string name; // "cublas", "cudnn", "thrust", "cub", "openblas", "onednn"
  std::string version;
};
std::vector<Library> libraries();

// Arithmetic of the library: `pedantic` is what correctness compares with (true f32, no TF32, fixed
// order where there is a choice), `fastest` the library's best mode of the same precision, what
// standing is measured against.
enum class Math { pedantic, fastest };

} // namespace kg::vendor
