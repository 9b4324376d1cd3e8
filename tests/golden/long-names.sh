# kernels' names of 300 characters, as PyTorch's: short in tables and sentences, whole on request
make-run long-names r
for options in "info r" "comm r" "access r"; do
    ctascope $options | sed '/^  size /d' | grep -e vect
    ctascope $options --full-names | grep -c 'at::native::binary_internal::MulFunctor<float>, std::array<char\*, 3ul>'
    ctascope $options --format json | grep -c 'at::native::binary_internal::MulFunctor<float>, std::array<char\*, 3ul>'
done
# no table of kernels alone is wider than a terminal of 80 columns
ctascope comm r | awk '/^Kernels/ { on = 1 } !NF { on = 0 } on && length($0) > 80 { print "wide: " $0 }'
# a name takes at most 16 columns where the others leave no room
for options in "comm r --per kernel-pair" "access r --per site" "info r"; do
    ctascope $options | awk '/vect/ { print length($0) }' | sort -n | tail -n 1
done
