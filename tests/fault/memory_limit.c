/* Touches a gigabyte and a half in all corners. */
#include <stdlib.h>
#include <string.h>
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 24; i++) {
		char *p = malloc(64 << 20);
		if (!p)
			continue; /* the limit leaves less: fine */
		for (long k = 0; k < 64 << 20; k += 512)
			p[k] = (char)i;
		sum += p[4096];
		if (i % 3)
			free(p);
	}
	return sum >= 0 ? 0 : 1;
}
