__global__ void srad(fp d_q0sqr, int d_Nr, long d_Ne, int *d_iN, int *d_iS, fp *d_c, fp *d_I){
	int ei = blockIdx.x*NUMBER_THREADS+threadIdx.x;
	if(ei<d_Ne){
		int row = (ei+1) % d_Nr - 1;
		int col = (ei+1) / d_Nr + 1 - 1;
		if((ei+1) % d_Nr == 0){ row = d_Nr - 1; col = col-1; }
		fp d_Jc = d_I[ei];
		fp d_dN_loc = d_I[d_iN[row] + d_Nr*col] - d_Jc;
		fp d_dS_loc = d_I[d_iS[row] + d_Nr*col] - d_Jc;
		fp d_G2 = (d_dN_loc*d_dN_loc + d_dS_loc*d_dS_loc) / (d_Jc*d_Jc);
		fp d_den = (d_G2-d_q0sqr) / (d_q0sqr * (1+d_q0sqr));
		fp d_c_loc = 1.0 / (1.0+d_den);
		if (d_c_loc < 0) d_c_loc = 0; else if (d_c_loc > 1) d_c_loc = 1;
		d_c[ei] = d_c_loc;
	}
}
