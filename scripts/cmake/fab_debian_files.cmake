# Run by cpack between installing and packing: what Debian's policy wants otherwise than `cmake --install` leaves it.
# Manual pages and changelogs are compressed, the licence is a copyright file that names the common one, and zsh reads
# what packages bring from a folder of its own.
cmake_minimum_required(VERSION 3.25)
set(source ${CMAKE_CURRENT_LIST_DIR}/../..)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH where it is set
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

function(compress)
  execute_process(COMMAND gzip --best --no-name --force ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(STRINGS ${source}/reports/web/dist/report.html uplot REGEX "^Copyright \\(c\\) [0-9]+ ")
if(uplot STREQUAL "")
  message(FATAL_ERROR "the HTML report does not name the holder of uPlot's copyright")
endif()
string(REGEX REPLACE "^Copyright \\(c\\) " "" uplot "${uplot}")
file(READ ${source}/scripts/cmake/debian_copyright.in copyright)
string(REPLACE "@UPLOT_HOLDER@" "${uplot}" copyright "${copyright}")

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share)
  set(doc ${share}/doc/${package})
  file(GLOB pages ${share}/man/man1/*.1)
  compress(${pages})
  file(WRITE ${doc}/copyright "${copyright}")
  file(WRITE ${doc}/changelog.Debian
       "${package} (${version}) unstable; urgency=medium\n\n  * Packaged by CPack from the released sources.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress(${doc}/changelog.Debian)
  if(component STREQUAL program)
    file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
    compress(${doc}/changelog)
    file(REMOVE ${doc}/LICENSE)
    file(READ ${doc}/README.md readme)
    string(REPLACE "](LICENSE)" "](copyright)" readme "${readme}")
    file(WRITE ${doc}/README.md "${readme}")
    file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
  endif()
endforeach()
