# What `make install` puts beside libraries and program: headers, scenes, the schema, and the two
# ways other builds find us. All paths in them are relative to where they lie, so that an installed
# tree can be moved, and `cmake --install build --prefix ...` needs no new configuration.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/stiction DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/stiction)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stiction FILES_MATCHING PATTERN "*.schema.json")

# The manual page and bash's completion are what the program says of itself.
foreach(file IN ITEMS stiction.1 stiction.bash)
  set(about_${file} ${PROJECT_BINARY_DIR}/cmake/${file})
endforeach()
add_custom_command(OUTPUT ${about_stiction.1} ${about_stiction.bash}
                   COMMAND st_program manual > ${about_stiction.1}
                   COMMAND st_program manual --bash > ${about_stiction.bash}
                   DEPENDS st_program VERBATIM)
add_custom_target(st_manual ALL DEPENDS ${about_stiction.1} ${about_stiction.bash})
install(FILES ${about_stiction.1} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${about_stiction.bash} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stiction)

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
