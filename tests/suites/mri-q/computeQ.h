#define KERNEL_PHI_MAG_THREADS_PER_BLOCK 256
#define KERNEL_Q_THREADS_PER_BLOCK 256
#define KERNEL_Q_K_ELEMS_PER_GRID 128
#define PIx2 6.2831853071795864769252867665590058f
struct kValues { float Kx; float Ky; float Kz; float PhiMag; };
void computePhiMag_GPU(int numK, float* phiR_d, float* phiI_d, float* phiMag_d);
void computeQ_GPU(int numK, int numX, float* x_d, float* y_d, float* z_d, struct kValues* kVals, float* Qr_d, float* Qi_d);
