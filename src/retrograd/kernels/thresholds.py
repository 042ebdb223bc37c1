"""From which size on a kernel goes another way, and how large a block is: all such numbers, with what has set them.

Each number was set by timing both ways. Where the figures are known, the line has them: the time before and after, or
the share of the time that is left. Otherwise the line says which two ways were compared. A number may be far off on
another machine. Then kernels are slower, and their results are good all the same.

All sizes are numbers of elements, unless the name says otherwise.
"""

from __future__ import annotations

# Elementwise kernels

# From here on, parts on several threads are tried. sin(a) * a + exp(a), forward and backward: 0.84 of the time for a
# million numbers, 0.79 for ten million.
PARTS = 1 << 15
# How much of a formula is computed at a time, so that its temporaries stay in a cache. Threads meet at the
# interpreter's lock between the calls, so smaller blocks are slower. From FORMULA_FAR_BYTES on, blocks pay on one
# thread, too: gelu of four million numbers 13.2 to 6.8 ms forward, 24 to 12.7 ms backward; of a million, they gain and
# cost nothing.
FORMULA_BLOCK, FORMULA_FAR_BYTES = 1 << 17, 1 << 24
# Nanoseconds for each byte of a sum or product. They take a third of this, but from a million floats on two threads
# gain: a product 141 to 95 us.
MOVED_COST = 0.125
# Sums and products from here on, by machine code on two threads, against one call of NumPy: 357 to 546 us for a million
# floats, 891 to 1652 for three million; for 300,000 as long.
PAIRS = 1 << 19
# The bits of numbers times 0 or 1, against np.where, which takes twenty times as long if it cannot predict the
# branches. Below this, np.where is as fast.
MASKED = 2048
# Remainders of all elements at once, against NumPy's own loop, which is as fast below REMAINDERS. In pieces that stay
# in a cache: fmod of a million 16 to 2.6 ms, remainder 17.9 to 3.1 ms.
REMAINDERS, REMAINDERS_PIECE = 256, 16384

# Reductions, running sums and transforms

# Rows by einsum and by columns, against NumPy's reductions, which are as fast below ROWS, and its sums below ROW_SUMS.
# Of ten thousand elements: amax along rows 21 to 8 us, sum 8.5 to 2.9, norm 11 to 3.5.
ROWS, ROW_SUMS = 4096, 1 << 14
# Sums of rows by machine code, if there is any, against einsum: a million in rows of 1000, 190 to 71 us.
SERVED_SUMS, SERVED_ROW = 1 << 18, 64
# Shorter rows are not summed by einsum first, against one sum of all.
SUMMED_ROW = 16
# Shorter rows are compared column by column, against one by one. Up to COMPARED_CACHED elements fit the nearest cache:
# transposing them takes less time than reading them by columns.
COMPARED_ROW, COMPARED_CACHED = 64, 1 << 15
# So much work beside an axis is enough for one step along the axis, against sums by matrix products. These are quicker
# from SCAN_PRODUCT on, and take SCAN_PIECE at once, which stay in the cache: cumsum of a million 2.0 to 0.8 ms.
SCAN_STEP, SCAN_PRODUCT, SCAN_PIECE = 256, 2048, 1 << 15
# From here on, a test whether all numbers of a transform are real pays: then half of the work is left.
REAL_TEST = 1 << 10
# Up to here, the mask of a triangle is kept for the next matrix, against np.tri anew.
TRIANGLE_MASK_KEPT = 1 << 14

# Indices

# Indices as integers of 64 bits with the numbers, against a plain argsort, which is as fast below this.
ARGSORT = 512
# Up to GATHERED, one index of all places is made at once, and where lines begin is kept; above, blocks of
# GATHERED_BLOCK, which stay in the cache.
GATHERED, GATHERED_BLOCK = 1 << 14, 1 << 16
# Up to ADDED_AT, np.add.at is the quickest way to add at indices. Otherwise rows are added, so many numbers at a time.
ADDED_AT, PLACED_BLOCK = 1 << 10, 1 << 15
# From here on, wide rows may be added in rounds, against np.add.at; and the block of single elements, since np.add.at
# is fast only in one dimension.
ADDED_ROWS_BLOCK = 1 << 15
# The elements from which on machine code picks them by an index, or adds to them.
PICKED = 1 << 14
# The numbers from which on machine code adds rows.
ADDED_ROWS_SERVED = 1 << 14
# The numbers of the rows that are taken for bags at a time, so that they stay in the cache, against all rows.
BAGS_BLOCK = 1 << 17

# Convolutions and pooling

# The least positions of a product; the bytes of columns of several samples at a time; and the nanoseconds of a
# multiplication with the work around it. More samples in a product of small images: 0.88 to 0.95 of the time.
COLUMNS_POSITIONS, COLUMNS_BLOCK_BYTES, COLUMNS_PRODUCT_COST = 1024, 1 << 22, 0.04
# A kernel of at most so many places, with columns of at least so many elements, copies them place by place; against
# zeros put around the input first.
COLUMNS_PLACES, COLUMNS_COPIED = 8, 1 << 14
# From so many multiplications and channels on, machine code computes convolutions, if a sample with its result has at
# most so many bytes: each thread has memory for one. In a step on 64 pictures of 8x8, with 10 million multiplications
# in each convolution, NumPy takes 0.9 of the time of machine code.
CONVOLUTION_SERVED, CONVOLUTION_CHANNELS, CONVOLUTION_ROOM = 1 << 25, 4, 1 << 23
# For the gradient by the weight, machine code takes so many channels at a time, of which this share must be there: with
# 3 of 8 channels, 0.97 ms against 0.62.
CONVOLUTION_FILLED, CONVOLUTION_SHARE = 8, 0.6
# The columns that may be kept for the next call of the same geometry, against new memory.
COLUMNS_KEPT_BYTES = 1 << 19
# The columns of one sample that are made at a time, so that they stay in the cache, against all of them.
COLUMNS_STRIP_BYTES = 1 << 23
# Samples along the last dimension: at most so many positions, and at least so many numbers in a row of all samples of a
# block; how many samples and positions a block should have, and the bytes of its rows of the input. For 64x16x8x8 and
# 32 filters of 3x3: forward 0.60 to 0.38 ms, by weight 0.63 to 0.41, by input 0.93 to 0.48.
SAMPLES_LAST_POSITIONS, SAMPLES_LAST_ROW = 200, 64
SAMPLES_LAST_BLOCK, SAMPLES_LAST_BLOCK_POSITIONS, SAMPLES_LAST_BLOCK_BYTES = 32, 1024, 1 << 22
# Samples that are a multiple of so many bytes apart take the same places in the cache.
COLLIDING_BYTES = 512
# OpenBLAS computes products of fewer multiplications without copies of the factors: 0.75 of the time. Blocks of fewer
# samples than this take longer than that gains.
QUICK_PRODUCT, QUICK_PRODUCT_SAMPLES = 10 ** 6, 12
# Rows of at most so many windows, of images of at most so many elements, at least so many images: these are moved to
# the last dimension before the search for maxima. 2048 images of 6x6: 0.26 to 0.16 ms.
POOLED_ROW, POOLED_IMAGE, POOLED_IMAGES = 6, 256, 64
# Rows of at most so many sums are added by columns, against a run for each row.
POOLED_SUMS = 8

# Linear algebra

# The columns that are eliminated one by one, before one product updates those to their right.
LU_PANEL = 32
# Up to so many matrices are eliminated one by one, and so many lists of swaps are applied one by one; against all at
# once.
LU_ONE_BY_ONE, SWAPS_ONE_BY_ONE = 3, 50
# From so many rows on, the LU of a matrix is kept for the gradient. A smaller matrix is factored again.
LU_KEPT_ROWS = 48
# Systems of more rows are halved, against rows: the work is mostly in products then.
TRIANGLE_HALVED = 64
# Parts of at most TRIANGLE_BY_ROW rows are solved row by row, against LAPACK. So are stacks of many systems of at most
# TRIANGLES_BY_ROW rows, with a step for each row of all, against one for each matrix.
TRIANGLE_BY_ROW, TRIANGLES_BY_ROW = 4, 8
# Machine code computes products, or stacks of products, of so many multiplications in all, unless one has more than the
# second number or few rows or columns, and with at most so many terms, for which there is memory. A product of 64x64
# matrices takes 11 us, and OpenBLAS 5; one of 256x256 takes 156 us, and OpenBLAS 184 if both its threads have a core.
PRODUCT_SERVED, PRODUCT_MOST, PRODUCT_ROWS, PRODUCT_COLUMNS, PRODUCT_DEPTH = 1 << 20, 1 << 30, 16, 32, 1024
# The elements of the first factor from which on a product is looked at.
PRODUCT_FACTOR = 1 << 10
# From here on, the order of a few rows and a large transposed matrix matters: the BLAS takes up to twice as long for x
# @ y as for y.T @ x.T.
TURNED_FACTOR = 1 << 16
# From so many multiplications on, einsum makes outer products of stacks in two thirds of the time of a multiplication
# with broadcasting. Below, its start takes longer.
EINSUM_PRODUCT = 1 << 12
# The differences of elements that are held at a time, so that they stay in the cache, and the rows whose distances from
# all later rows are computed together; against one row at a time.
DISTANCES_BLOCK, DISTANCES_ROWS = 1 << 17, 64
# A row with more stored elements is not added element by element in rounds; and how much of a product is held at once,
# unless a single round has more.
SPARSE_ROUNDS, SPARSE_BLOCK = 4096, 1 << 17

# Networks

# Blocks of rows, in elements. Smaller blocks would stay in a nearer cache, but threads meet at the interpreter's lock
# between calls: with a quarter of this, each of two threads took half as long again. Below SOFTMAX_ROWS, the fewest
# calls of NumPy are quicker than blocks. From there on machine code computes, if there is any: softmax of 4096 numbers
# 43 to 25 us, layer_norm 68 to 29 us.
SOFTMAX_BLOCK, SOFTMAX_ROWS = 1 << 19, 1 << 12
# The same for normalization, and for its sums. Below NORM_ROWS, the fewest calls of NumPy are quicker.
NORM_BLOCK, NORM_SUMS_BLOCK, NORM_ROWS = 1 << 19, 1 << 17, 1 << 12
# From here on, the gradients of a layer normalization are computed together, in blocks of rows, against one after the
# other; and the BLAS has no threads of its own meanwhile.
NORM_ALONE = 1 << 18
# Up to here, whole products of two pairs are so small that the BLAS starts no threads. Such a product adds the elements
# of a row in their order, which loses digits in long rows.
NORM_WHOLE = 1 << 15
# Up to here, sums of products are quickest with a temporary, against einsum.
NORM_TEMPORARY = 1 << 14
# Shorter runs of a channel bring no gain against NumPy's own loops, which start again for each run. How much of the
# second product is held; and the nanoseconds of a pass for each element.
CHANNEL_RUN, CHANNELS_BLOCK, CHANNELS_PASS_COST = 32, 1 << 18, 0.15
# A core keeps weights of up to this size in its cache from step to step. Then each step of a recurrent layer takes one
# product for input and state, against the products of all inputs first.
CACHED_WEIGHT_BYTES = 1 << 20

# Random numbers

# Blocks of normal numbers that are computed together: the arrays fit the cache, and malloc needs no new pages.
NORMAL_BLOCKS = 2048
# The draws whose numbers of 64 bits stay in a cache while they are compared.
COMPARED_DRAWS = 1 << 16
# Up to this length, swaps one by one in a list make a permutation quicker than swaps in an array.
SHUFFLED_LIST = 500
# Up to so many comparisons, each point with all sums of its row is quicker than a search in each row.
COMPARED_SUMS = 1 << 12

# Functions in several steps

# Numbers that stay in a cache through all steps: those of a fused multiply-add, of expansions, and of erf.
FMA_CHUNK, EXPANSION_CHUNK, ERF_CHUNK = 8192, 8192, 16384
# So many floats of Python's at a time come from the free list and a cache, against new memory. Up to LIBM_ONE_BY_ONE
# numbers, a NumPy call with its guard against warnings takes longer.
LIBM_CHUNK, LIBM_ONE_BY_ONE = 4096, 32
