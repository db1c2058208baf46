# Tests and examples of the Python module, with the Python it was built for.

# A module with AddressSanitizer in it needs it loaded before Python itself; memory that Python does not free when it ends is not
# ours, and its own pools of memory would hide leaks of ours.
set(PYTHON_ENVIRONMENT PYTHONPATH=${PROJECT_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive)
if(ST_SANITIZE)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE asan
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${asan}")
    message(STATUS "Python module: not tested under sanitizers, ${CMAKE_C_COMPILER} has no libasan.so to load first")
    return()
  endif()
  list(APPEND PYTHON_ENVIRONMENT LD_PRELOAD=${asan} PYTHONMALLOC=malloc ST_SANITIZED=1
       ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1)
endif()

# The interpreter itself: the program found may be a script that starts it, as that of pyenv.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)" OUTPUT_VARIABLE python
                OUTPUT_STRIP_TRAILING_WHITESPACE)

function(st_python_test name file)
  add_test(NAME ${name} COMMAND ${python} ${file} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${PYTHON_ENVIRONMENT}" SKIP_RETURN_CODE 77)
endfunction()

file(GLOB PYTHON_TESTS CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/test_*.py)
foreach(file ${PYTHON_TESTS})
  get_filename_component(name ${file} NAME_WE)
  string(REPLACE test_ python_ name ${name})
  st_python_test(${name} ${file})
endforeach()

file(GLOB PYTHON_EXAMPLES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/python/*.py)
foreach(file ${PYTHON_EXAMPLES})
  get_filename_component(name ${file} NAME_WE)
  st_python_test(example_python_${name} ${file})
endforeach()

# The module is for every Python from 3.11 on, so it is tested in Debian's own, too, which may be the one with numpy.
if(EXISTS /usr/bin/python3 AND NOT python STREQUAL "/usr/bin/python3")
  execute_process(COMMAND /usr/bin/python3 -c "import sys; sys.exit(sys.version_info < (3, 11))" RESULT_VARIABLE too_old)
  if(NOT too_old)
    set(python /usr/bin/python3)
    st_python_test(python_numpy_system ${CMAKE_CURRENT_LIST_DIR}/test_numpy.py)
    st_python_test(python_batch_system ${CMAKE_CURRENT_LIST_DIR}/test_batch.py)
    st_python_test(python_gym_system ${CMAKE_CURRENT_LIST_DIR}/test_gym.py)
    if(NOT ST_SANITIZE) # some seconds of steps, more than enough of which the others take
      st_python_test(example_python_train_cartpole_system ${PROJECT_SOURCE_DIR}/examples/python/train_cartpole.py)
    endif()
    st_python_test(python_articulation_system ${CMAKE_CURRENT_LIST_DIR}/test_articulation.py)
  endif()
endif()
