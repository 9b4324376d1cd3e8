/* Where ctascope's parts lie, from the program's own path <prefix>/bin/ctascope. */
#ifndef CTS_COMMON_INSTALL_H
#define CTS_COMMON_INSTALL_H

/* <prefix>/lib/ctascope: recorders and plug-ins. Static storage; empty if the path is too long. */
const char *cts_library_directory(void);
/* <prefix>/share/ctascope: headers, the stand-in toolkit. Static storage; empty as above. */
const char *cts_share_directory(void);

#endif
