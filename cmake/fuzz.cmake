# Fuzzers of the parsers that read what strangers send: libFuzzer targets in build/<preset>/fuzz, compiled by clang with AddressSanitizer and
# UBSan, whichever compiler makes the rest. A parser's own sources are enough: these parsers depend on little.
option(REDQUEL_FUZZ "Build libFuzzer targets (needs clang)" OFF)
if(NOT REDQUEL_FUZZ)
  return()
endif()
find_program(CLANG_PROGRAM clang++ REQUIRED)

# add_fuzzer(<name> SOURCES <sources> LIBRARIES <libraries>): the binary fuzz/<name> of tests/fuzz/<name>.cc.
function(add_fuzzer name)
  cmake_parse_arguments(fuzzer "" "" "SOURCES;LIBRARIES" ${ARGN})
  set(sources ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}.cc)
  foreach(source ${fuzzer_SOURCES})
    list(APPEND sources ${CMAKE_SOURCE_DIR}/${source})
  endforeach()
  set(binary ${CMAKE_BINARY_DIR}/fuzz/${name})
  add_custom_command(OUTPUT ${binary}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/fuzz
    COMMAND ${CLANG_PROGRAM} -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I${CMAKE_SOURCE_DIR}
      -o ${binary} ${sources} ${fuzzer_LIBRARIES}
    DEPENDS ${sources} VERBATIM)
  add_custom_target(fuzz_${name} ALL DEPENDS ${binary})
endfunction()

set(error_sources sql/error.cc sql/value_errors.cc sql/types/byte_text.cc tests/fuzz/no_interrupts.cc)
add_fuzzer(startup_packet SOURCES server/startup_packet.cc ${error_sources} LIBRARIES -lfmt)
add_fuzzer(scram_exchange
  SOURCES server/authentication/scram_exchange.cc sql/passwords/base64.cc sql/passwords/saslprep.cc sql/passwords/scram_verifier.cc
    sql/passwords/stringprep_tables.cc ${error_sources}
  LIBRARIES -lfmt -lcrypto -lutf8proc)
add_fuzzer(host_rules
  SOURCES server/authentication/rule_lines.cc server/authentication/host_rule.cc ${error_sources}
  LIBRARIES -lfmt)
add_fuzzer(resp3_decoder SOURCES executor/memory/resp3_decoder.cc ${error_sources} LIBRARIES -lfmt)
add_fuzzer(token_parser SOURCES sql/text_search/token_parser.cc)
