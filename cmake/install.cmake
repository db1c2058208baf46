# What `make install` puts beside libraries and program: headers, scenes, the schema, and the two
# ways other builds find us. All paths in them are relative to where they lie, so that an installed
# tree can be moved, and `cmake --install build --prefix ...` needs no new configuration.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/stiction DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/stiction)
install(FILES docs/scene.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/stiction)

# The manual page and the completions are what the program says of itself.
set(about ${PROJECT_BINARY_DIR}/cmake/stiction)
add_custom_command(OUTPUT ${about}.1 ${about}.bash ${about}.zsh ${about}.fish
                   COMMAND st_program manual > ${about}.1
                   COMMAND st_program manual --bash > ${about}.bash
                   COMMAND st_program manual --zsh > ${about}.zsh
                   COMMAND st_program manual --fish > ${about}.fish
                   DEPENDS st_program VERBATIM)
add_custom_target(st_manual ALL DEPENDS ${about}.1 ${about}.bash ${about}.zsh ${about}.fish)
install(FILES ${about}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${about}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stiction)
install(FILES ${about}.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _stiction)
install(FILES ${about}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(pkgconfig_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PC_PREFIX ${pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH PC_INCLUDEDIR ${pkgconfig_dir} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
# Of qhull Debian has the archive under another name; with it, `pkg-config --static` serves `cc -static`, too.
find_library(QHULL_ARCHIVE NAMES libqhullstatic_r.a libqhull_r.a)
get_filename_component(PC_QHULL "${QHULL_ARCHIVE}" NAME_WE)
string(REGEX REPLACE "^lib" "" PC_QHULL "${PC_QHULL}")
if(NOT QHULL_ARCHIVE)
  set(PC_QHULL qhull_r)
endif()
foreach(name stiction stiction-io)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/cmake/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stiction)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/stiction-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/stiction-config.cmake ${PROJECT_BINARY_DIR}/cmake/stiction-config-version.cmake
        DESTINATION ${package_dir})
install(EXPORT stiction-targets NAMESPACE stiction:: DESTINATION ${package_dir})
