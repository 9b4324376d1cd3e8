/* Files that the owner can open again, whatever the umask: a recorder works under the program's
 * umask, which it must not change, and `record` reads the files afterwards. */
#ifndef CTS_OWN_RIGHTS_H
#define CTS_OWN_RIGHTS_H

/* As mkdir(path, 0777): the umask decides what others may do, the owner may do everything. */
int cts_make_directory(const char *path);
/* Gives the owner the right to read and write a file that this process has just created. A failure
 * shows when it is opened again. */
void cts_keep_own_rights(int file);

#endif
