# Writes a text file as a C array of bytes: static const char NAME[] = {...}; NUL-terminated.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "static const char ${NAME}[] = {${bytes}0};\n")
