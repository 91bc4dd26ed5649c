# What a release build is hardened with, as far as this compiler, linker and processor know it: every function of the
# product and every program. scripts/check_hardening looks at the programs. Sanitizers have checks of their own, and
# builds without optimisation have none of _FORTIFY_SOURCE.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)

option(FAB_HARDEN "Harden the release build" ON)
set(FAB_HARDEN_COMPILE "")
set(FAB_HARDEN_LINK "")

function(fab_harden_compile flag)
  string(MAKE_C_IDENTIFIER "FAB_HAS${flag}" known)
  set(CMAKE_REQUIRED_FLAGS -Werror) # clang takes those of other processors with a warning
  check_c_compiler_flag(${flag} ${known})
  if(${known})
    set(FAB_HARDEN_COMPILE ${FAB_HARDEN_COMPILE} ${flag} PARENT_SCOPE)
  endif()
endfunction()

function(fab_harden_link flag)
  string(MAKE_C_IDENTIFIER "FAB_LINKS${flag}" known)
  check_linker_flag(C ${flag} ${known})
  if(${known})
    set(FAB_HARDEN_LINK ${FAB_HARDEN_LINK} ${flag} PARENT_SCOPE)
  endif()
endfunction()

# The highest level that the C library does not warn of.
function(fab_harden_fortify)
  foreach(level 3 2)
    set(flags -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}")
    check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" FAB_HAS_FORTIFY_${level})
    if(FAB_HAS_FORTIFY_${level})
      set(FAB_HARDEN_COMPILE ${FAB_HARDEN_COMPILE} ${flags} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

if(FAB_HARDEN AND NOT FAB_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "Rel")
  fab_harden_fortify()
  fab_harden_compile(-fPIE) # not -fPIC: functions of our own libraries are still inlined
  fab_harden_compile(-fstack-protector-strong)
  fab_harden_compile(-fstack-clash-protection)
  fab_harden_compile(-fcf-protection=full)          # x86
  fab_harden_compile(-mbranch-protection=standard)  # arm64
  fab_harden_link(-pie)
  fab_harden_link(LINKER:-z,relro)
  fab_harden_link(LINKER:-z,now)
  fab_harden_link(LINKER:-z,noexecstack)
endif()
