# cmake -DROOT=<source folder> -DOUTPUT=<file.cc> -P embed_page.cmake
#
# Writes the files of the status page as C++ constants: page_files() of server/status/page_files.h. index.html is the page's root.
cmake_policy(VERSION 3.25)
set(folder ${ROOT}/server/status/page)
set(entries "")
foreach(file index.html page.css page.js)
  string(REGEX REPLACE "^.*\\." "" ending ${file})
  string(REPLACE html "text/html; charset=utf-8" type ${ending})
  string(REGEX REPLACE "^css$" "text/css; charset=utf-8" type ${type})
  string(REGEX REPLACE "^js$" "text/javascript; charset=utf-8" type ${type})
  string(REGEX REPLACE "^/index.html$" "/" path "/${file}")
  file(READ ${folder}/${file} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" text "${bytes}")
  string(APPEND entries "    {\"${path}\", \"${type}\", std::string_view(\"${text}\", ${size})},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/embed_page.cmake.\n#include \"server/status/page_files.h\"\n\nnamespace {\nconst redquel::server::PageFile kFiles[] = {\n${entries}};\n}\n\nstd::span<const redquel::server::PageFile> redquel::server::page_files() { return kFiles; }\n")
