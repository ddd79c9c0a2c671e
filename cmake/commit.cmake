# cmake -DROOT=<source folder> -DOUTPUT=<file.cc> -P commit.cmake
#
# Writes the function commit() of server/version.h. The file keeps its time where nothing changes. Without a repository, as in a released
# archive, the environment variable REDQUEL_COMMIT says the commit.
set(commit "$ENV{REDQUEL_COMMIT}")
if(commit STREQUAL "" AND EXISTS ${ROOT}/.git)
  execute_process(COMMAND git -C ${ROOT} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[0-9a-f]+$")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "#include \"server/version.h\"

std::string_view redquel::server::commit() { return \"@commit@\"; }
")
