# add_status_page(<room>): compiles the status page into the room, as embed_page.cmake has it.
function(add_status_page room)
  set(output ${CMAKE_BINARY_DIR}/generated/page_files.cc)
  set(embed ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/status/page/*)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${output} -P ${embed}
    DEPENDS ${files} ${embed}
    COMMENT "Embedding the status page" VERBATIM)
  target_sources(${room} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()
