# stiction against other engines over the same scenes: one program an engine, build/bench/run-ENGINE. stiction's is built
# with the tests; the peers' with ST_BENCH, each where its library is found. `make bench` does all of it.
option(ST_BENCH "build the drivers for other engines (Debian: scripts/setup.sh bench)" OFF)

set(PEERS ${PROJECT_SOURCE_DIR}/bench/peers)
add_library(bench_scenes OBJECT ${PEERS}/scenes.c ${PEERS}/bodies.c ${PEERS}/hulls.c ${PEERS}/mechanisms.c
                                 ${PEERS}/piles.c)
add_library(bench_check OBJECT ${PEERS}/check.c ${PEERS}/depth.c)
add_library(bench_main OBJECT ${PEERS}/main.c)
foreach(part bench_scenes bench_check bench_main)
  target_include_directories(${part} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${part} PRIVATE _DEFAULT_SOURCE) # wait4
  target_link_libraries(${part} PRIVATE st_flags)
endforeach()

add_executable(bench_table ${PEERS}/table.c $<TARGET_OBJECTS:bench_scenes>)
set_target_properties(bench_table PROPERTIES OUTPUT_NAME table RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
target_link_libraries(bench_table PRIVATE st_flags ${MATH_LIBRARY})

function(bench_engine name source)
  add_executable(bench_${name} ${source} $<TARGET_OBJECTS:bench_main> $<TARGET_OBJECTS:bench_check>
                 $<TARGET_OBJECTS:bench_scenes>)
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME run-${name}
                                                 RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(bench_${name} PRIVATE ${ARGN} ${MATH_LIBRARY})
endfunction()

bench_engine(stiction ${PEERS}/engines/stiction.c st_flags stiction_static)
if(ST_TESTS)
  target_sources(test_judge PRIVATE $<TARGET_OBJECTS:bench_check> $<TARGET_OBJECTS:bench_scenes>)
  add_test(NAME bench_run COMMAND bench_stiction bowling --csv --repeat 2)
  set_tests_properties(bench_run PROPERTIES PASS_REGULAR_EXPRESSION "^bowling,stiction,[^,]*,0,\"[^\"]*\",1,480,")
endif()
# Robots of model files; beside MuJoCo where that is found.
if(ST_TESTS)
  set(ROBOTS ${PROJECT_SOURCE_DIR}/bench/robots)
  add_executable(bench_robots ${ROBOTS}/robots.c)
  set_target_properties(bench_robots PROPERTIES OUTPUT_NAME robots RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_compile_definitions(bench_robots PRIVATE BENCH_ROBOTS="${ROBOTS}" _DEFAULT_SOURCE)
  target_link_libraries(bench_robots PRIVATE st_flags stiction_io_static)
endif()
if(NOT ST_BENCH)
  return()
endif()

enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)

# Engine, its source, the name of its package here, what Debian calls it.
function(bench_peer name source module debian)
  pkg_check_modules(${name}_PEER IMPORTED_TARGET ${module})
  if(NOT ${name}_PEER_FOUND)
    message(WARNING "${name} was not found (Debian: ${debian}): run-${name} is not built")
    return()
  endif()
  bench_engine(${name} ${PEERS}/engines/${source} PkgConfig::${name}_PEER)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(bench_${name} PRIVATE PEER_VERSION="${${name}_PEER_VERSION}" _POSIX_C_SOURCE=200809L)
endfunction()

bench_peer(ode ode.c ode libode-dev)
bench_peer(bullet bullet.cpp bullet-float64 libbullet-dev)
bench_peer(simbody simbody.cpp simbody libsimbody-dev)
bench_peer(dart dart.cpp dart libdart-dev)

# MuJoCo has no .pc file.
find_library(MUJOCO_LIBRARY mujoco)
find_path(MUJOCO_INCLUDE mujoco/mujoco.h)
if(MUJOCO_LIBRARY AND MUJOCO_INCLUDE)
  bench_engine(mujoco ${PEERS}/engines/mujoco.c ${MUJOCO_LIBRARY})
  target_include_directories(bench_mujoco PRIVATE ${PROJECT_SOURCE_DIR}/include ${MUJOCO_INCLUDE})
  target_compile_definitions(bench_mujoco PRIVATE _DEFAULT_SOURCE)
  if(ST_TESTS)
    target_compile_definitions(bench_robots PRIVATE BENCH_MUJOCO)
    target_include_directories(bench_robots PRIVATE ${MUJOCO_INCLUDE})
    target_link_libraries(bench_robots PRIVATE ${MUJOCO_LIBRARY})
  endif()
else()
  message(WARNING "MuJoCo was not found (Debian: libmujoco-dev): run-mujoco is not built")
endif()

# Siconos: its own package description requires more than its libraries.
find_library(SICONOS_MECHANICS siconos_mechanics)
find_library(SICONOS_KERNEL siconos_kernel)
find_library(SICONOS_NUMERICS_LIBRARY siconos_numerics)
find_path(SICONOS_MECHANICS_INCLUDE SiconosBulletCollisionManager.hpp PATH_SUFFIXES siconos/mechanics)
if(SICONOS_MECHANICS AND SICONOS_KERNEL AND SICONOS_NUMERICS_LIBRARY AND SICONOS_MECHANICS_INCLUDE)
  get_filename_component(SICONOS_ROOT ${SICONOS_MECHANICS_INCLUDE} DIRECTORY)
  execute_process(COMMAND dpkg-query -W -f "\${source:Upstream-Version}" libsiconos-mechanics-dev # no header defines it
                  OUTPUT_VARIABLE siconos_version ERROR_QUIET)
  bench_engine(siconos ${PEERS}/engines/siconos.cpp ${SICONOS_MECHANICS} ${SICONOS_KERNEL} ${SICONOS_NUMERICS_LIBRARY})
  target_include_directories(bench_siconos PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(bench_siconos SYSTEM PRIVATE ${SICONOS_ROOT} ${SICONOS_ROOT}/mechanics ${SICONOS_ROOT}/kernel
                                                          ${SICONOS_ROOT}/numerics /usr/include/bullet)
  target_compile_definitions(bench_siconos PRIVATE PEER_VERSION="${siconos_version}")
else()
  message(WARNING "Siconos was not found (Debian: libsiconos-mechanics-dev): run-siconos is not built")
endif()
