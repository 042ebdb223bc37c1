"""Access to the machine: threads, NumPy's BLAS and LAPACK, the C library, the heap."""
