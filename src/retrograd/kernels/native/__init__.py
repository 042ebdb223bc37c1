"""What the machine offers: threads, the BLAS and LAPACK behind NumPy, the C library, the heap."""
