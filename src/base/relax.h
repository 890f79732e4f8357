/* relax: tells the processor that a loop waits for another one. No system call, no memory order. */
#ifndef INTACT_BASE_RELAX_H
#define INTACT_BASE_RELAX_H

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory"); /* yield is over at once on most of them */
#endif
}

#endif
