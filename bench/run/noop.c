/* The hooks with nothing behind them: the floor of any such tool. */
#define H(name) void name(void *p); void name(void *p) { (void)p; }
#define S(x) H(__tsan_read##x) H(__tsan_write##x) H(__tsan_unaligned_read##x) H(__tsan_unaligned_write##x)
S(1) S(2) S(4) S(8) S(16)
H(__tsan_vptr_read) H(__tsan_vptr_update) H(__tsan_func_entry) H(__tsan_func_exit)
H(__tsan_init) H(__tsan_read_range) H(__tsan_write_range)
void __cyg_profile_func_enter(void *a, void *b);
void __cyg_profile_func_enter(void *a, void *b) { (void)a, (void)b; }
void __cyg_profile_func_exit(void *a, void *b);
void __cyg_profile_func_exit(void *a, void *b) { (void)a, (void)b; }
