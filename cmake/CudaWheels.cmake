# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_cuda_library(<name> <header>): provides the target CUDA::<name>. A machine may have nvcc but not the libraries of the toolkit.
# Python packages (nvidia-cublas and others, installed with PyTorch) then provide them: a library with a version suffix, libcublas.so.13,
# and headers that may belong to another CUDA version, so they come after the toolkit's in the search order. Searches the python3 on PATH.
# Defines no target if the library is not found.

function(kernelgrade_cuda_library name header)
  if(TARGET CUDA::${name})
    return()
  endif()
  find_program(KERNELGRADE_PYTHON NAMES python3 python)
  mark_as_advanced(KERNELGRADE_PYTHON)
  if(NOT KERNELGRADE_PYTHON)
    return()
  endif()
  # In CUDA 13 all libraries share the folder nvidia/cu13; before, each had its own.
  set(folders "cu${CUDAToolkit_VERSION_MAJOR}" ${name} cuda_${name})
  execute_process(
    COMMAND "${KERNELGRADE_PYTHON}" -c "import nvidia; print(';'.join(nvidia.__path__))"
    OUTPUT_VARIABLE packages OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  foreach(package IN LISTS packages)
    foreach(folder IN LISTS folders)
      file(GLOB libraries ${package}/${folder}/lib/lib${name}.so.*)
      list(FILTER libraries EXCLUDE REGEX "alt")
      if(libraries AND EXISTS ${package}/${folder}/include/${header})
        list(GET libraries 0 library)
        add_library(CUDA::${name} UNKNOWN IMPORTED GLOBAL)
        # The toolkit's folder first: nvcc and the runtime headers must have the same version.
        set_target_properties(CUDA::${name} PROPERTIES
          IMPORTED_LOCATION ${library}
          INTERFACE_INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS};${package}/${folder}/include")
        message(STATUS "Found ${name} in Python's packages: ${library}")
        return()
      endif()
    endforeach()
  endforeach()
endfunction()
