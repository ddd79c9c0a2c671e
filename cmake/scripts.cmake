# add_lua_scripts(<room>): compiles the Lua scripts into the room, as embed_scripts.cmake has them.
function(add_lua_scripts room)
  set(output ${CMAKE_BINARY_DIR}/generated/lua_scripts.cc)
  set(embed ${CMAKE_SOURCE_DIR}/cmake/embed_scripts.cmake)
  file(GLOB_RECURSE scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/*.lua)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUTPUT=${output} -P ${embed}
    DEPENDS ${scripts} ${embed} ${CMAKE_SOURCE_DIR}/sql/catalog/stored_keys.h
    COMMENT "Embedding the Lua scripts" VERBATIM)
  target_sources(${room} PRIVATE ${output})
endfunction()
