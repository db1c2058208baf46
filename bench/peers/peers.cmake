# stiction against other engines over the same scenes: one program an engine, build/bench/run-ENGINE. stiction's is built
# with the tests; the peers' with ST_BENCH, each where its library is found. `make bench` does all of it.
option(ST_BENCH "build the drivers for other engines (Debian: scripts/setup.sh bench)" OFF)

set(PEERS ${PROJECT_SOURCE_DIR}/bench/peers)
add_library(bench_peers OBJECT ${PEERS}/main.c ${PEERS}/scenes.c ${PEERS}/check.c ${PEERS}/depth.c)
target_include_directories(bench_peers PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(bench_peers PRIVATE _DEFAULT_SOURCE) # wait4
target_link_libraries(bench_peers PRIVATE st_flags)

function(bench_engine name source)
  add_executable(bench_${name} ${source} $<TARGET_OBJECTS:bench_peers>)
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME run-${name}
                                                 RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(bench_${name} PRIVATE ${ARGN} ${MATH_LIBRARY})
endfunction()

# A driver in C is compiled as strictly as our own; C++ only as far as the peer's headers let it.
bench_engine(stiction ${PEERS}/engines/stiction.c st_flags stiction_static)
if(ST_BENCH)
  pkg_check_modules(ODE IMPORTED_TARGET ode)
  if(ODE_FOUND)
    bench_engine(ode ${PEERS}/engines/ode.c st_flags PkgConfig::ODE)
    target_compile_definitions(bench_ode PRIVATE PEER_VERSION="${ODE_VERSION}")
  else()
    message(WARNING "ODE was not found (Debian: libode-dev): run-ode is not built")
  endif()
endif()
