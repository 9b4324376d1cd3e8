# Figures of kernels with names of 300 characters: the data keep what tells them apart.
make-run long-names r
ctascope report --figures figures -o page.html r
ls figures | grep bisection
cat figures/comm-bisection.csv
