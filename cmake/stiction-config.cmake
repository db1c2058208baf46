# find_package(stiction) gives stiction::stiction and stiction::io, shared, and beside them
# stiction::stiction_static and stiction::io_static, which needs what the I/O library is made of.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(JANSSON QUIET IMPORTED_TARGET jansson)
  pkg_check_modules(HDF5 QUIET IMPORTED_TARGET hdf5)
  pkg_check_modules(ZLIB QUIET IMPORTED_TARGET zlib)
  pkg_check_modules(EXPAT QUIET IMPORTED_TARGET expat)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/stiction-targets.cmake)
