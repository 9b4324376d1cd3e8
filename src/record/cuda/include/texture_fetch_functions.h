/* clang 19's CUDA wrapper includes this header of the toolkit; toolkit 13 has dropped it together
 * with the texture references that it served. */
