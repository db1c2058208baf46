# The Python module, where Python's headers are: build/python/stiction.abi3.so, for every Python from 3.11 on. It
# carries the libraries inside itself, like the program, and shows nothing but its own door.
if(ST_TOP_LEVEL)
  set(python_default AUTO)
else()
  set(python_default OFF)
endif()
set(ST_PYTHON ${python_default} CACHE STRING "build the Python module: ON, OFF or AUTO (where Python's headers are)")

set(PYTHON_MODULE OFF)
if(ST_PYTHON STREQUAL "AUTO" OR ST_PYTHON)
  find_package(Python3 3.11 COMPONENTS Interpreter Development.Module QUIET)
  if(Python3_Interpreter_FOUND AND Python3_Development.Module_FOUND)
    set(PYTHON_MODULE ON)
    message(STATUS "Python module: for ${Python3_EXECUTABLE} ${Python3_VERSION}")
  elseif(ST_PYTHON STREQUAL "AUTO")
    message(NOTICE "Python module: left out, no headers of Python 3.11 or later (Debian: python3-dev)")
  else()
    message(FATAL_ERROR "ST_PYTHON is ${ST_PYTHON}: no headers of Python 3.11 or later (Debian: python3-dev)")
  endif()
endif()
if(NOT PYTHON_MODULE)
  return()
endif()

file(GLOB PYTHON_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
add_library(st_python MODULE ${PYTHON_SOURCES})
set_target_properties(st_python PROPERTIES OUTPUT_NAME stiction PREFIX "" SUFFIX ".abi3.so"
                                           LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python)
# Python's tables of slots hold functions in pointers to data, as POSIX allows and ISO C does not.
set_source_files_properties(${PYTHON_SOURCES} PROPERTIES COMPILE_OPTIONS -Wno-pedantic)
target_link_libraries(st_python PRIVATE st_flags stiction_io_static Python3::Module)
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  target_link_options(st_python PRIVATE -Wl,--exclude-libs,ALL)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/stiction.pyi ${PROJECT_BINARY_DIR}/python/stiction.pyi COPYONLY)
# Modules in Python.
foreach(module gym film)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${module}.py ${PROJECT_BINARY_DIR}/python/stiction_modules/${module}.py COPYONLY)
  list(APPEND PYTHON_MODULES ${CMAKE_CURRENT_LIST_DIR}/${module}.py)
endforeach()

# Where the Python of the prefix /usr/local looks: Debian has a name of its own for that place.
set(ST_PYTHON_DIR "" CACHE STRING "where the Python module is installed, below the prefix; empty: where Python looks")
set(python_dir ${ST_PYTHON_DIR})
if(NOT python_dir)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sysconfig as s; \
print('dist-packages' if 'posix_local' in s.get_scheme_names() else 'site-packages')"
                  OUTPUT_VARIABLE packages OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(python_dir lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/${packages})
endif()
install(TARGETS st_python LIBRARY DESTINATION ${python_dir})
install(FILES ${CMAKE_CURRENT_LIST_DIR}/stiction.pyi DESTINATION ${python_dir})
install(FILES ${PYTHON_MODULES} DESTINATION ${python_dir}/stiction_modules)
