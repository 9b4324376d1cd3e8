make-run complete r
ctascope info r | sed 's/^\(  size  *\).*/\1(depends on versions of libraries)/'
