/* model: struct intact_model of include/intact/intact.h. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "version.h"

#define MAX_THREADS 10000u

API_EXPORT int intact_api_version(void)
{
	return INTACT_API_VERSION;
}

API_EXPORT const char *intact_version(void)
{
	return INTACT_VERSION;
}

API_EXPORT struct intact_model *intact_model_new(void)
{
	struct intact_model *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	lang_init(&m->lang);
	buf_init(&m->messages);
	return m;
}

static void free_threads(struct intact_model *m)
{
	for (uint32_t i = 0; i < m->nthreads; i++)
		free(m->threads[i].name);
	free(m->threads);
}

API_EXPORT void intact_model_free(struct intact_model *m)
{
	if (!m)
		return;
	lang_free(&m->lang);
	free_threads(m);
	buf_free(&m->messages);
	free(m);
}

API_EXPORT enum intact_status intact_model_threads(struct intact_model *m, const char *name, uint32_t n)
{
	buf_clear(&m->messages);
	if (!name || !*name || n > MAX_THREADS) {
		buf_printf(&m->messages, "threads: expected a name and a number up to %u (0: any)\n", MAX_THREADS);
		return INTACT_INVALID;
	}
	struct api_threads *t = realloc(m->threads, (m->nthreads + 1ull) * sizeof *t);
	if (!t)
		return INTACT_NO_MEMORY;
	m->threads = t;
	if (!(t[m->nthreads].name = strdup(name)))
		return INTACT_NO_MEMORY;
	t[m->nthreads++].n = n;
	return INTACT_OK;
}

/* `text` NULL: reads the file. */
static enum intact_status load(struct intact_model *m, const char *name, const char *text, size_t len)
{
	struct lang_threads *threads = calloc(m->nthreads + 1ull, sizeof *threads);
	struct lang_options o = { .threads = threads, .nthreads = m->nthreads, .sml = -1 };
	buf_clear(&m->messages);
	m->loaded = false;
	if (!threads)
		return INTACT_NO_MEMORY;
	for (uint32_t i = 0; i < m->nthreads; i++)
		threads[i] = (struct lang_threads){ .name = m->threads[i].name, .count = m->threads[i].n };
	lang_free(&m->lang);
	lang_init(&m->lang);
	m->loaded = text ? lang_load_text(&m->lang, name, text, len, &o) : lang_load(&m->lang, name, &o);
	free(threads);
	if (m->lang.out_of_memory) {
		m->loaded = false;
		buf_str(&m->messages, "out of memory while reading the model\n");
		return INTACT_NO_MEMORY;
	}
	diags_render(&m->lang.diags, &m->messages, false);
	return m->loaded ? INTACT_OK : INTACT_INVALID;
}

API_EXPORT enum intact_status intact_model_load(struct intact_model *m, const char *path)
{
	return load(m, path, NULL, 0);
}

API_EXPORT enum intact_status intact_model_load_text(struct intact_model *m, const char *name, const char *text, size_t len)
{
	return load(m, name ? name : "model.atm", text ? text : "", text ? len : 0);
}

API_EXPORT const char *intact_model_messages(const struct intact_model *m)
{
	return buf_cstr(&m->messages);
}
