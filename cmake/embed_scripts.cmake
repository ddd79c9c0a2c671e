# cmake -DROOT=<source folder> -DOUTPUT=<file.cc> -P embed_scripts.cmake
#
# Writes every Lua script of the executor as a C++ constant: executor/scripts/write_rows.lua becomes `const Script kWriteRowsScript`, with
# its SHA-1. Redis gets neither comments nor indentation, so that a script's text stays short. In the Lua files
#   --#include "executor/scripts/shared/locks.lua"    stands for the text of that file;
#   kVersionKey                                       stands for the string constant of this name in STORED_KEYS;
#   "-- Changes: nothing (EVALSHA_RO)"                makes the script read-only for Redis, too;
#   "-- Flags: allow-oom"                             lets the script run while the memory is full;
#   "local tag = "                                    puts the tag of a bucket in front of the stored keys.
cmake_policy(VERSION 3.25)
set(STORED_KEYS ${ROOT}/sql/catalog/stored_keys.h)

file(READ ${STORED_KEYS} stored_keys)
string(REGEX MATCHALL "std::string_view k[A-Za-z]+ = \"[^\"\n]*\"" constants "${stored_keys}")

# with_pieces(<variable>): puts the texts of other files where the script names them.
function(with_pieces variable)
  set(text "${${variable}}")
  while(text MATCHES "--#include \"([^\"]+)\"")
    set(path ${CMAKE_MATCH_1})
    file(READ ${ROOT}/${path} piece)
    string(REPLACE "--#include \"${path}\"" "${piece}" text "${text}")
  endwhile()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# compacted(<variable>): without comments, indentation and empty lines.
function(compacted variable)
  set(text "\n${${variable}}\n")
  string(REGEX REPLACE "\n *--[^\n]*" "" text "${text}")
  string(REGEX REPLACE "  -- [^\n]*" "" text "${text}")
  string(REGEX REPLACE " *\n *" "\n" text "${text}")
  string(REGEX REPLACE "\n\n+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# with_stored_keys(<variable> <path>): the constants of STORED_KEYS by their values.
function(with_stored_keys variable path)
  set(text "${${variable}}")
  foreach(constant IN LISTS constants)
    string(REGEX MATCH "(k[A-Za-z]+) = \"(.*)\"" matched "${constant}")
    set(name ${CMAKE_MATCH_1})
    set(value "'${CMAKE_MATCH_2}'")
    if(text MATCHES "local tag = " AND value MATCHES "^'redquel:")
      set(value "tag..${value}")
    endif()
    string(REGEX REPLACE "([^A-Za-z0-9_])${name}([^A-Za-z0-9_])" "\\1${value}\\2" text "${text}")
  endforeach()
  if(text MATCHES "[^A-Za-z0-9_'](k[A-Z][A-Za-z]+)")
    message(FATAL_ERROR "${path}: ${CMAKE_MATCH_1} is no constant of ${STORED_KEYS}")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

set(code "// Made by cmake/embed_scripts.cmake of the executor's .lua files.\n#include \"executor/redis/script.h\"\n\nnamespace redquel::executor {\n")
file(GLOB scripts ${ROOT}/executor/redis/*.lua ${ROOT}/executor/scripts/*.lua)
foreach(path IN LISTS scripts)
  file(READ ${path} text)
  set(access write)
  if(text MATCHES "\n-- Changes: nothing \\(EVALSHA_RO\\)")
    set(access read_only)
  endif()
  set(flags "")
  if(text MATCHES "\n-- Flags: ([a-z-]+)\n")
    set(flags "#!lua flags=${CMAKE_MATCH_1}\n")
  endif()
  with_pieces(text)
  compacted(text)
  with_stored_keys(text ${path})
  string(PREPEND text "${flags}")
  string(SHA1 sha1 "${text}")
  get_filename_component(name ${path} NAME_WE)
  set(constant k)
  string(REPLACE "_" ";" words ${name})
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND constant ${first}${rest})
  endforeach()
  string(APPEND code "\nextern const Script ${constant}Script;\nconstinit const Script ${constant}Script(\"${name}\", R\"lua(${text})lua\",\n  \"${sha1}\", Script::Access::${access});\n")
endforeach()
string(APPEND code "\n}  // namespace redquel::executor\n")
file(WRITE ${OUTPUT} "${code}")
