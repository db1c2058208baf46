# find_package(stiction) gives stiction::stiction and stiction::io, shared, and beside them
# stiction::stiction_static and stiction::io_static.
include(${CMAKE_CURRENT_LIST_DIR}/stiction-targets.cmake)
