# fab_embed(TARGET VARIABLE name FILES glob...)
# Compiles files into TARGET as `const fab_builtin name[]`, sorted by name and ended by an entry whose name is NULL,
# so that the program needs no data folder at run time.

function(fab_embed target)
  cmake_parse_arguments(arg "" "VARIABLE" "FILES" ${ARGN})
  list(TRANSFORM arg_FILES PREPEND ${CMAKE_SOURCE_DIR}/)
  file(GLOB files CONFIGURE_DEPENDS ${arg_FILES})
  list(SORT files)
  set(output ${CMAKE_BINARY_DIR}/embedded/${arg_VARIABLE}.c)
  string(REPLACE ";" "|" joined "${files}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DVARIABLE=${arg_VARIABLE} -DOUTPUT=${output} "-DFILES=${joined}"
            -P ${CMAKE_SOURCE_DIR}/scripts/cmake/embed_files.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/scripts/cmake/embed_files.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
