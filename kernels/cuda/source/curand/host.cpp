// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/curand/device.h"
#include "cuda/source/handles.h"

#include <curand.h>

#include <cstdio>

struct curandGenerator_st {
  curandStatePhilox4_32_10 state{};
  unsigned long long seed = 0;
  cudaStream_t stream = nullptr;
  bool on_host = false; // where the numbers are written
};

namespace kg::foreign {
namespace {

Handles<curandGenerator_st>& generators() {
  static auto& instance = *new Handles<curandGenerator_st>;
  return instance;
}

struct Refused : Error {
  Refused(curandStatus_t status, const std::string& why) : Error(why), status(status) {}
  curandStatus_t status;
};

template <class Body>
curandStatus_t call_curand(const char* name, Body body) {
  if (fault() != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
  const auto refused = [name](curandStatus_t status, const char* why) {
    std::fprintf(stderr, "kernelgrade: %s: %s\n", name, why);
    return status;
  };
  try {
    body();
    return CURAND_STATUS_SUCCESS;
  } catch (const Refused& error) {
    return refused(error.status, error.what());
  } catch (const Refusal& error) {
    return refused(error.code == cudaErrorInvalidResourceHandle ? CURAND_STATUS_NOT_INITIALIZED
                                                                : CURAND_STATUS_LAUNCH_FAILURE,
                   error.what());
  }
}

curandGenerator_st& generator_of(curandGenerator_t generator) {
  return generators().get(generator, "generator");
}

curandStatus_t create(const char* name, curandGenerator_t* generator, curandRngType_t type,
                      bool on_host) {
  return call_curand(name, [&] {
    if (type < CURAND_RNG_PSEUDO_DEFAULT || type >= CURAND_RNG_QUASI_DEFAULT)
      throw Refused(CURAND_STATUS_TYPE_ERROR,
                    "generator " + std::to_string(type) + "; only pseudorandom ones run here");
    auto created = std::make_unique<curandGenerator_st>();
    created->on_host = on_host;
    curand_init(0, 0, 0, &created->state);
    *generator = generators().add(std::move(created));
  });
}

// Writes `n` numbers, each from `draw`.
template <class T, class Draw>
curandStatus_t generate(const char* name, curandGenerator_t handle, T* out, std::size_t n,
                        Draw draw) {
  return call_curand(name, [&] {
    curandGenerator_st& generator = generator_of(handle);
    if (!generator.on_host) demand_on_device(out, n * sizeof(T), "the target");
    on_stream(generator.stream, "cuRAND", [=, &generator] {
      for (std::size_t i = 0; i < n; ++i) out[i] = draw(&generator.state);
      note_written(out, n * sizeof(T));
    });
  });
}
template <class T, class Draw>
curandStatus_t generate_even(const char* name, curandGenerator_t handle, T* out, std::size_t n,
                             Draw draw) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(name, handle, out, n, draw);
}

} // namespace
} // namespace kg::foreign

using namespace kg::foreign;
using State = curandStatePhilox4_32_10;

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create("curandCreateGenerator", generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create("curandCreateGeneratorHost", generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return call_curand("curandDestroyGenerator",
                     [&] { generators().remove(generator, "generator"); });
}
curandStatus_t curandGetVersion(int* version) {
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return call_curand("curandSetStream", [&] {
    stream_of(stream);
    generator_of(generator).stream = stream;
  });
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  return call_curand("curandSetPseudoRandomGeneratorSeed", [&] {
    generator_of(generator).seed = seed;
    curand_init(seed, 0, 0, &generator_of(generator).state);
  });
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return call_curand("curandSetGeneratorOffset", [&] {
    curandGenerator_st& target = generator_of(generator);
    curand_init(target.seed, 0, offset, &target.state);
  });
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t) {
  return call_curand("curandSetGeneratorOrdering", [&] { generator_of(generator); });
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return call_curand("curandGenerateSeeds", [&] { generator_of(generator); });
}
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, std::size_t n) {
  return generate("curandGenerate", generator, out, n, [](State* state) { return curand(state); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, std::size_t n) {
  return generate("curandGenerateUniform", generator, out, n,
                  [](State* state) { return curand_uniform(state); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out,
                                           std::size_t n) {
  return generate("curandGenerateUniformDouble", generator, out, n, [](State* state) {
    const unsigned low = curand(state);
    return uniform(low, curand(state));
  });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, std::size_t n,
                                    float mean, float deviation) {
  return generate_even("curandGenerateNormal", generator, out, n,
                       [=](State* state) { return mean + deviation * curand_normal(state); });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, std::size_t n,
                                          double mean, double deviation) {
  return generate_even("curandGenerateNormalDouble", generator, out, n, [=](State* state) {
    return mean + deviation * curand_normal_double(state);
  });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, std::size_t n,
                                       float mean, float deviation) {
  return generate_even("curandGenerateLogNormal", generator, out, n,
                       [=](State* state) { return curand_log_normal(state, mean, deviation); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out,
                                             std::size_t n, double mean, double deviation) {
  return generate_even("curandGenerateLogNormalDouble", generator, out, n, [=](State* state) {
    return curand_log_normal_double(state, mean, deviation);
  });
}
