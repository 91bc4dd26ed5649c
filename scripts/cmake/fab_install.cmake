# What `cmake --install` installs, and the Debian packages that `cpack -G DEB` makes of it. The program carries its data
# inside, so that the tree works at any prefix and wherever it is moved; below share/ the same data are for people to read.
# Component mpi is what needs an MPI library, so that the rest needs none.

set(FAB_DOC_DIR ${CMAKE_INSTALL_DATADIR}/doc/fabriscope)
set(pages_dir ${CMAKE_BINARY_DIR}/share)

function(fab_install_script name component)
  install(PROGRAMS scripts/${name} DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME fabriscope-${name} COMPONENT ${component})
endfunction()

install(TARGETS fabriscope COMPONENT program)
fab_install_script(study-slurm program)
if(TARGET fabriscope-mpi)
  install(TARGETS fabriscope-mpi COMPONENT mpi)
  fab_install_script(study-mpi mpi)
  install(FILES ${pages_dir}/man/man1/fabriscope-mpi.1 ${pages_dir}/man/man1/fabriscope-study-mpi.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi)
endif()

# What the program prints of itself, for man, shells and editors.
add_custom_command(
  OUTPUT share/man/man1/fabriscope.1
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:fabriscope> -DINTO=${pages_dir} -DSCRIPTS=${CMAKE_SOURCE_DIR}/scripts
          -DVERSION=${PROJECT_VERSION} -P ${CMAKE_SOURCE_DIR}/scripts/cmake/fab_pages.cmake
  DEPENDS fabriscope scripts/cmake/fab_pages.cmake scripts/study-slurm scripts/study-mpi VERBATIM)
add_custom_target(pages ALL DEPENDS share/man/man1/fabriscope.1)
install(DIRECTORY ${pages_dir}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program
        PATTERN fabriscope-mpi.1 EXCLUDE PATTERN fabriscope-study-mpi.1 EXCLUDE)
install(DIRECTORY ${pages_dir}/bash-completion ${pages_dir}/zsh ${pages_dir}/fish ${pages_dir}/fabriscope
        DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT program)
install(DIRECTORY topologies/presets topologies/prices topologies/catalogs topologies/gpus topologies/published
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fabriscope COMPONENT program FILES_MATCHING PATTERN *.xml)

# Documents stand together: paths into src/doc are turned to where they are installed; what is for people with the sources
# is named and not linked.
file(READ README.md readme)
string(REPLACE "src/doc/" "" readme "${readme}")
string(REGEX REPLACE "\\[([A-Z]+)\\]\\((ARCHITECTURE|CONTRIBUTING|SECURITY)\\.md\\)" "\\1" readme "${readme}")
file(WRITE ${CMAKE_BINARY_DIR}/doc/README.md "${readme}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS README.md)
install(FILES ${CMAKE_BINARY_DIR}/doc/README.md CHANGELOG.md LICENSE DESTINATION ${FAB_DOC_DIR} COMPONENT program)
install(DIRECTORY src/doc/ DESTINATION ${FAB_DOC_DIR} COMPONENT program)
install(FILES tests/data/two_jobs.xml tests/data/front_end.xml DESTINATION ${FAB_DOC_DIR}/examples COMPONENT program)

# --- Debian packages ---
set(FAB_PACKAGE_CONTACT "fabriscope developers <developers@fabriscope.invalid>" CACHE STRING "Maintainer field of packages")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fabriscope)
set(CPACK_PACKAGE_CONTACT ${FAB_PACKAGE_CONTACT})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/scripts/cmake/fab_debian_files.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME fabriscope)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "fabriscope-mpi, librsvg2-bin, slurm-client")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION # behind the project's description as first line
    "fabriscope builds Clos, fat-tree, rail-and-spine, rail-only and comparison
fabrics as a graph, replays the traffic of a training job over them under a
routing discipline, and tells which flows collide on which links, how long
each phase and an iteration take and what bounds them, what a taper or a
failure costs, and what the fabric costs in parts, watts and money.")
if(TARGET fabriscope-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME fabriscope-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "fabriscope (= ${PROJECT_VERSION}-1), openmpi-bin")
  set(CPACK_DEBIAN_MPI_DESCRIPTION
      "This package has the program that runs a study of failures under mpirun, one
shard per process. The results are those of the program in fabriscope.")
endif()
include(CPack)
