/*
 * own_memory: included before every file of the explorer: calls that compilers
 * generate to copy and clear memory go to the runtime's own functions, because
 * the program's memcpy and memset count as accesses of the program.
 */
__asm__(".set memcpy, x_memcpy\n"
        ".set memmove, x_memmove\n"
        ".set memset, x_memset\n"
        ".set memcmp, x_memcmp\n"
        ".set strlen, x_strlen");

/* The analysis of src/dynamic has memory of its own (atomicity.c). */
#ifdef INTACT_OWN_MALLOC
__asm__(".set malloc, x_own_malloc\n"
        ".set calloc, x_own_calloc\n"
        ".set realloc, x_own_realloc\n"
        ".set free, x_own_free");
#endif
