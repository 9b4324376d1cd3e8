/* Removing a folder with all that is in it. */
#ifndef CTS_COMMON_REMOVE_FOLDER_H
#define CTS_COMMON_REMOVE_FOLDER_H

/* Deletes a directory of files and of directories of files, a few levels deep; links are deleted,
 * not followed. What cannot be deleted stays. `parent`: a directory, or AT_FDCWD. */
void cts_remove_folder(int parent, const char *name);

#endif
