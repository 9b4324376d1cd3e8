// sums of d_sums (values) and d_sums2 (squares), one pair per block
__global__ void reduce(	long d_Ne, int d_no, int d_mul, fp *d_sums, fp *d_sums2){
	int bx = blockIdx.x;
	int tx = threadIdx.x;
	int ei = (bx*NUMBER_THREADS)+tx;
	int nf = NUMBER_THREADS-(gridDim.x*NUMBER_THREADS-d_no);
	int df = 0;
	__shared__ fp d_psum[NUMBER_THREADS];
	__shared__ fp d_psum2[NUMBER_THREADS];
	int i;
	if(ei<d_no){
		d_psum[tx] = d_sums[ei*d_mul];
		d_psum2[tx] = d_sums2[ei*d_mul];
	}
	__syncthreads();
	if(nf == NUMBER_THREADS || bx != (gridDim.x - 1)){
		for(i=2; i<=NUMBER_THREADS; i=2*i){
			if((tx+1) % i == 0){
				d_psum[tx] = d_psum[tx] + d_psum[tx-i/2];
				d_psum2[tx] = d_psum2[tx] + d_psum2[tx-i/2];
			}
			__syncthreads();
		}
		if(tx==(NUMBER_THREADS-1)){
			d_sums[bx*d_mul*NUMBER_THREADS] = d_psum[tx];
			d_sums2[bx*d_mul*NUMBER_THREADS] = d_psum2[tx];
		}
	} else {
		for(i=2; i<=NUMBER_THREADS; i=2*i) if(nf >= i) df = i;
		for(i=2; i<=df; i=2*i){
			if((tx+1) % i == 0 && tx<df){
				d_psum[tx] = d_psum[tx] + d_psum[tx-i/2];
				d_psum2[tx] = d_psum2[tx] + d_psum2[tx-i/2];
			}
			__syncthreads();
		}
		if(tx==(df-1)){
			for(i=(bx*NUMBER_THREADS)+df; i<(bx*NUMBER_THREADS)+nf; i++){
				d_psum[tx] = d_psum[tx] + d_sums[i*d_mul];
				d_psum2[tx] = d_psum2[tx] + d_sums2[i*d_mul];
			}
			d_sums[bx*d_mul*NUMBER_THREADS] = d_psum[tx];
			d_sums2[bx*d_mul*NUMBER_THREADS] = d_psum2[tx];
		}
	}
}
