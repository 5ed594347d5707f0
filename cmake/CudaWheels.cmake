# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_cuda_library(<name> <header>): makes sure that there is a target CUDA::<name>. A machine may have nvcc without the
# libraries beside it, which Python's packages (nvidia-cublas and others, as PyTorch brings them) then hold: a library named by its
# version, libcublas.so.13, and its headers among those of another CUDA, which come after the toolkit's own in the search order.
# Looked for in the python3 on PATH. Leaves the target missing where there is none.

function(kernelgrade_cuda_library name header)
  if(TARGET CUDA::${name})
    return()
  endif()
  find_program(KERNELGRADE_PYTHON NAMES python3 python)
  mark_as_advanced(KERNELGRADE_PYTHON)
  if(NOT KERNELGRADE_PYTHON)
    return()
  endif()
  # Of CUDA 13 all libraries share one folder, nvidia/cu13; before, each had its own.
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
        # The toolkit's folder first: nvcc and the runtime's headers must be of one version.
        set_target_properties(CUDA::${name} PROPERTIES
          IMPORTED_LOCATION ${library}
          INTERFACE_INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS};${package}/${folder}/include")
        message(STATUS "Found ${name} in Python's packages: ${library}")
        return()
      endif()
    endforeach()
  endforeach()
endfunction()
