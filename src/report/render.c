#include "report/render.h"

#include "report/doc.h"

const struct renderer renderers[RENDERERS] = {
	[RENDER_SARIF] = { "\"version\": \"2.1.0\"", render_sarif },
	[RENDER_HTML] = { "<title>Intact", render_html },
	[RENDER_JUNIT] = { "<testsuites", render_junit },
	[RENDER_GITHUB] = { "", render_github },
	[RENDER_DOT] = { "digraph intact", render_dot },
};
const char render_json_mark[] = "\"schema\": \"" DOC_SCHEMA "\"";
