# cts_bundle_page(NAME): web/ bundled into one HTML file, NAME-page.html in the current binary
# directory, and beside it the header NAME-page.html.h that embeds it as a string.
find_program(CTS_NODE NAMES node nodejs REQUIRED)
function(cts_bundle_page name)
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/web/node_modules)
    message(FATAL_ERROR "the page needs its packages: './run setup' (or 'npm ci' in web/)")
  endif()
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/*)
  set(page ${CMAKE_CURRENT_BINARY_DIR}/${name}-page.html)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CTS_NODE} ${CMAKE_SOURCE_DIR}/web/build.mjs ${name} ${page}
    DEPENDS ${page_sources} ${CMAKE_SOURCE_DIR}/web/build.mjs ${CMAKE_SOURCE_DIR}/web/package-lock.json
    COMMENT "Bundling the page of the ${name}")
  add_custom_command(OUTPUT ${page}.h
    COMMAND ${CMAKE_COMMAND} -DINPUT=${page} -DOUTPUT=${page}.h -DNAME=cts_${name}_page
            -P ${CMAKE_SOURCE_DIR}/tools/embed-text.cmake
    DEPENDS ${page} ${CMAKE_SOURCE_DIR}/tools/embed-text.cmake)
endfunction()
