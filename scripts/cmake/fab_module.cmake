# fab_module(NAME DIR dir [USES module...] [PRIVATE_USES module...] [PRIVATE_LIBS target...])
# One static library fab_NAME per module, with its own include root DIR/include. A header of a module that is not
# named in USES is not on the include path: a forbidden include does not compile. Sub-folders show the parts of a module;
# a private header of another sub-folder is included by its path from DIR.

function(fab_options target)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
                                           -Wmissing-prototypes -Wvla
                                           -ffp-contract=off) # the same bytes on machines that fuse and that do not
  if(FAB_X87)
    target_compile_options(${target} PRIVATE -msse2 -mfpmath=sse) # a double is one in registers too
  endif()
  target_compile_options(${target} PRIVATE ${FAB_HARDEN_COMPILE})
  target_link_options(${target} PRIVATE ${FAB_HARDEN_LINK})
  if(FAB_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  fab_sanitize(${target})
endfunction()

# Of the product: it runs on stacks of 256 KiB. A canary and its alignment come on top; sanitizers have larger frames.
function(fab_small_frames target)
  if(NOT FAB_SANITIZE)
    target_compile_options(${target} PRIVATE -Wframe-larger-than=32832)
  endif()
endfunction()

function(fab_sanitize target)
  if(FAB_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${FAB_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=undefined)
    target_compile_definitions(${target} PRIVATE FAB_NO_MULTIVERSION)
    target_link_options(${target} PRIVATE -fsanitize=${FAB_SANITIZE})
  endif()
  if(FAB_FUZZ)
    # What was reached, for libFuzzer. Clang alone takes offence at NULL + 0, which empty arrays come to.
    target_compile_options(${target} PRIVATE -fno-sanitize=pointer-overflow)
    if(FAB_FUZZ_ENGINE) # CFLAGS bring the sanitizers
      target_compile_definitions(${target} PRIVATE FAB_NO_MULTIVERSION)
    else()
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endif()
endfunction()

function(fab_module name)
  cmake_parse_arguments(arg "" "DIR" "USES;PRIVATE_USES;PRIVATE_LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${arg_DIR}/*.c)
  list(FILTER sources EXCLUDE REGEX "/node_modules/")
  add_library(fab_${name} STATIC ${sources})
  target_include_directories(fab_${name} PUBLIC ${CMAKE_SOURCE_DIR}/${arg_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/${arg_DIR})
  list(TRANSFORM arg_USES PREPEND fab_)
  list(TRANSFORM arg_PRIVATE_USES PREPEND fab_)
  target_link_libraries(fab_${name} PUBLIC ${arg_USES} PRIVATE ${arg_PRIVATE_USES} ${arg_PRIVATE_LIBS})
  if(name STREQUAL base)
    target_link_libraries(fab_${name} PUBLIC Threads::Threads m)
  endif()
  fab_options(fab_${name})
  fab_small_frames(fab_${name})
endfunction()
