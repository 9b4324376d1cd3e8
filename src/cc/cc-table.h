/* The options of nvcc and of clang that `ctascope cc` knows, and its own: how each takes its value
 * and where it goes. Data: cc-table.c; what it means: cc-options.c. */
#ifndef CTS_CC_TABLE_H
#define CTS_CC_TABLE_H

#include "cc/cc.h"

enum cc_form {
    CC_FLAG,   /* exactly the name */
    CC_PREFIX, /* anything that starts with the name; passed on as it is */
    CC_VALUE,  /* NAME VALUE or NAME=VALUE */
    CC_JOINED, /* NAMEVALUE, NAME VALUE, or nvcc's NAME=VALUE */
    CC_GLUED,  /* NAMEVALUE or NAME VALUE: a '=' is the value's own */
    CC_EQUALS  /* NAME=VALUE only; passed on as it is */
};

enum cc_place {
    CC_IGNORED,
    CC_REFUSED, /* known, and not possible */
    /* lists of the request */
    CC_SHARED,  /* every compile */
    CC_HOST,    /* host compiles */
    CC_MACHINE, /* host and retarget */
    CC_LINKED,  /* the link */
    CC_HOST_AND_LINK,
    /* members of the request */
    CC_TEXT, /* takes the value */
    CC_ON,   /* becomes true */
    CC_OFF,
    CC_STAGE,  /* what to make becomes `stage` */
    CC_SPECIAL /* `special` says */
};

enum cc_special {
    CC_SET_OBJECT,
    CC_SET_OBJECT_RDC,
    CC_SET_USER_DEPENDENCIES,
    CC_WRITE_USER_DEPENDENCIES,
    CC_ADD_DEPENDENCY_FLAG,
    CC_SET_OPTIMISATION,
    CC_SET_DEBUG,
    CC_SET_RDC,
    CC_SET_ARCHITECTURE,
    CC_SET_FAST_MATH,
    CC_SET_CONTRACTION,
    CC_SET_DEFAULT_STREAM,
    CC_SET_SHARED_LIBRARY,
    CC_SET_MODULE,
    CC_ADD_HOST_WORDS,
    CC_ADD_LINK_WORDS,
    CC_ADD_LIBRARY,
    CC_SET_DEVICE,
    CC_SET_CUDA_VERSION,
    CC_SET_KERNEL_NAME,
    CC_SET_LANGUAGE,
    CC_FORWARD_UNKNOWN,
    CC_SET_NVCC_WERROR,
    CC_READ_OPTIONS_FILE
};

struct cc_option {
    const char *names; /* parted by blanks */
    enum cc_form form;
    enum cc_place place;
    const char *as; /* a list: what clang calls it, where that is another name or a value follows;
                       CC_TEXT: the value of a flag */
    size_t member;  /* CC_TEXT, CC_ON, CC_OFF: its offset in struct cc_request */
    enum cc_stage stage;
    enum cc_special special;
};

/* The option whose name is the longest that fits the argument, and that name's length; NULL: none.
 */
const struct cc_option *cc_option_find(const char *argument, size_t *name_length);

#endif
