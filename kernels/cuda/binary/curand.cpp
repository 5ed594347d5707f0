// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// libcurand.so.10: the C interface of cuRAND's host API. NVIDIA's library contains a stripped CUDA
// runtime, which works only with NVIDIA's driver. The generators (cuda/source/curand) are those of
// the source API: other numbers than a GPU's, of the same distributions.
#include <curand.h>

#include "cuda/binary/export.h"

#include <cstdio>

namespace {

curandStatus_t refuse(const char* name) {
  std::fprintf(stderr, "kernelgrade: %s: this function of cuRAND is not emulated\n", name);
  return CURAND_STATUS_TYPE_ERROR;
}

} // namespace

#define KG_CURAND(name, parameters, call) KG_EXPORT(curandStatus_t, name, parameters, call)
#define KG_REFUSED(name) KG_EXPORT(curandStatus_t, name, (), refuse(#name))

KG_CURAND(curandCreateGenerator, (curandGenerator_t * generator, curandRngType_t type),
          curandCreateGenerator(generator, type))
KG_CURAND(curandCreateGeneratorHost, (curandGenerator_t * generator, curandRngType_t type),
          curandCreateGeneratorHost(generator, type))
KG_CURAND(curandDestroyGenerator, (curandGenerator_t generator), curandDestroyGenerator(generator))
KG_CURAND(curandGetVersion, (int* version), curandGetVersion(version))
KG_CURAND(curandSetStream, (curandGenerator_t generator, cudaStream_t stream),
          curandSetStream(generator, stream))
KG_CURAND(curandSetPseudoRandomGeneratorSeed,
          (curandGenerator_t generator, unsigned long long seed),
          curandSetPseudoRandomGeneratorSeed(generator, seed))
KG_CURAND(curandSetGeneratorOffset, (curandGenerator_t generator, unsigned long long offset),
          curandSetGeneratorOffset(generator, offset))
KG_CURAND(curandSetGeneratorOrdering, (curandGenerator_t generator, curandOrdering_t order),
          curandSetGeneratorOrdering(generator, order))
KG_CURAND(curandGenerateSeeds, (curandGenerator_t generator), curandGenerateSeeds(generator))
KG_CURAND(curandGenerate, (curandGenerator_t generator, unsigned* out, std::size_t n),
          curandGenerate(generator, out, n))
KG_CURAND(curandGenerateUniform, (curandGenerator_t generator, float* out, std::size_t n),
          curandGenerateUniform(generator, out, n))
KG_CURAND(curandGenerateUniformDouble, (curandGenerator_t generator, double* out, std::size_t n),
          curandGenerateUniformDouble(generator, out, n))
KG_CURAND(curandGenerateNormal,
          (curandGenerator_t generator, float* out, std::size_t n, float mean, float deviation),
          curandGenerateNormal(generator, out, n, mean, deviation))
KG_CURAND(curandGenerateNormalDouble,
          (curandGenerator_t generator, double* out, std::size_t n, double mean, double deviation),
          curandGenerateNormalDouble(generator, out, n, mean, deviation))
KG_CURAND(curandGenerateLogNormal,
          (curandGenerator_t generator, float* out, std::size_t n, float mean, float deviation),
          curandGenerateLogNormal(generator, out, n, mean, deviation))
KG_CURAND(curandGenerateLogNormalDouble,
          (curandGenerator_t generator, double* out, std::size_t n, double mean, double deviation),
          curandGenerateLogNormalDouble(generator, out, n, mean, deviation))

KG_REFUSED(curandCreatePoissonDistribution)
KG_REFUSED(curandDestroyDistribution)
KG_REFUSED(curandGenerateBinomial)
KG_REFUSED(curandGenerateBinomialMethod)
KG_REFUSED(curandGenerateLongLong)
KG_REFUSED(curandGeneratePoisson)
KG_REFUSED(curandGeneratePoissonMethod)
KG_REFUSED(curandGetDirectionVectors32)
KG_REFUSED(curandGetDirectionVectors64)
KG_REFUSED(curandGetProperty)
KG_REFUSED(curandGetScrambleConstants32)
KG_REFUSED(curandGetScrambleConstants64)
KG_REFUSED(curandSetQuasiRandomGeneratorDimensions)
