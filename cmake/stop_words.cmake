# add_stop_words(<room>): compiles the lists of stop words into the room, as embed_stop_words.cmake has them.
function(add_stop_words room)
  set(output ${CMAKE_BINARY_DIR}/generated/stop_words.cc)
  set(embed ${CMAKE_SOURCE_DIR}/cmake/embed_stop_words.cmake)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/sql/text_search/stop_words/*.txt)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${output} -P ${embed}
    DEPENDS ${files} ${embed}
    COMMENT "Embedding the stop words" VERBATIM)
  target_sources(${room} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()
