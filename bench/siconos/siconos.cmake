# The comparison with Siconos Numerics: skipped, with a message, where it is not installed.
find_library(SICONOS_NUMERICS siconos_numerics)
find_path(SICONOS_INCLUDE NonSmoothDrivers.h PATH_SUFFIXES siconos/numerics siconos)
if(SICONOS_NUMERICS AND SICONOS_INCLUDE AND TARGET stiction_io)
  add_executable(compare_siconos ${PROJECT_SOURCE_DIR}/bench/siconos/compare.c
                 ${PROJECT_SOURCE_DIR}/bench/siconos/siconos.c)
  set_target_properties(compare_siconos PROPERTIES OUTPUT_NAME compare-siconos)
  target_include_directories(compare_siconos SYSTEM PRIVATE ${SICONOS_INCLUDE} ${SICONOS_INCLUDE}/..)
  target_compile_definitions(compare_siconos PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
  target_link_libraries(compare_siconos PRIVATE stiction_io ${SICONOS_NUMERICS} ${MATH_LIBRARY})
else()
  message(WARNING "Siconos Numerics was not found (Debian: libsiconos-numerics-dev): compare-siconos is not built")
endif()
