/*
 * net_write: a net as PEP's ll_net, as PNML, and as a drawing for graphviz.
 *
 * Names come from outside. ll_net has no way to write a quote or a line end
 * in a name, so those become underscores there; PNML and dot escape them, and
 * characters that XML does not know at all become U+FFFD.
 */
#include <string.h>

#include "causal/net.h"

static void pep_name(struct buf *out, const char *s)
{
	buf_char(out, '"');
	for (; *s; s++)
		buf_char(out, *s == '"' || (unsigned char)*s < ' ' ? '_' : *s);
	buf_char(out, '"');
}

static bool is_marked(const struct net *n, uint32_t *k, uint32_t p)
{
	if (*k >= n->ninit || n->init[*k] != p)
		return false;
	++*k;
	return true;
}

void net_write_pep(const struct net *n, struct buf *out)
{
	uint32_t k = 0;
	buf_str(out, "PEP\nPTNet\nFORMAT_N\nPL\n");
	for (uint32_t p = 0; p < n->nplaces; p++) {
		buf_printf(out, "%u", p + 1);
		pep_name(out, n->place_name[p]);
		buf_str(out, is_marked(n, &k, p) ? "M1\n" : "\n");
	}
	buf_str(out, "TR\n");
	for (uint32_t t = 0; t < n->ntrans; t++) {
		buf_printf(out, "%u", t + 1);
		pep_name(out, n->trans_name[t]);
		buf_char(out, '\n');
	}
	buf_str(out, "TP\n");
	for (uint32_t t = 0; t < n->ntrans; t++)
		for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++)
			buf_printf(out, "%u<%u\n", t + 1, n->post[i] + 1);
	buf_str(out, "PT\n");
	for (uint32_t t = 0; t < n->ntrans; t++)
		for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
			buf_printf(out, "%u>%u\n", n->pre[i] + 1, t + 1);
}

static void xml_text(struct buf *out, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '&':
			buf_str(out, "&amp;");
			break;
		case '<':
			buf_str(out, "&lt;");
			break;
		case '>':
			buf_str(out, "&gt;");
			break;
		case '"':
			buf_str(out, "&quot;");
			break;
		case '\t':
			buf_str(out, "&#9;");
			break;
		case '\n':
			buf_str(out, "&#10;");
			break;
		case '\r':
			buf_str(out, "&#13;");
			break;
		default:
			if ((unsigned char)*s < ' ')
				buf_str(out, "\xEF\xBF\xBD");
			else
				buf_char(out, *s);
		}
}

static void xml_name(struct buf *out, const char *s)
{
	buf_str(out, "<name><text>");
	xml_text(out, s);
	buf_str(out, "</text></name>");
}

void net_write_pnml(const struct net *n, struct buf *out)
{
	uint32_t k = 0, arc = 0;
	buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	             "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n"
	             "<net id=\"net\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n");
	xml_name(out, n->name);
	buf_str(out, "\n<page id=\"page\">\n");
	for (uint32_t p = 0; p < n->nplaces; p++) {
		buf_printf(out, "<place id=\"p%u\">", p + 1);
		xml_name(out, n->place_name[p]);
		if (is_marked(n, &k, p))
			buf_str(out, "<initialMarking><text>1</text></initialMarking>");
		buf_str(out, "</place>\n");
	}
	for (uint32_t t = 0; t < n->ntrans; t++) {
		buf_printf(out, "<transition id=\"t%u\">", t + 1);
		xml_name(out, n->trans_name[t]);
		buf_str(out, "</transition>\n");
	}
	for (uint32_t t = 0; t < n->ntrans; t++) {
		for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
			buf_printf(out, "<arc id=\"a%u\" source=\"p%u\" target=\"t%u\"/>\n", ++arc, n->pre[i] + 1, t + 1);
		for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++)
			buf_printf(out, "<arc id=\"a%u\" source=\"t%u\" target=\"p%u\"/>\n", ++arc, t + 1, n->post[i] + 1);
	}
	buf_str(out, "</page>\n</net>\n</pnml>\n");
}

static void dot_name(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_char(out, '\\');
		buf_char(out, (unsigned char)*s < ' ' ? ' ' : *s);
	}
}

void net_write_dot(const struct net *n, struct buf *out)
{
	uint32_t k = 0;
	buf_str(out, "digraph net {\n");
	for (uint32_t p = 0; p < n->nplaces; p++) {
		buf_printf(out, "  p%u [shape=circle, label=\"", p + 1);
		dot_name(out, n->place_name[p]);
		buf_str(out, is_marked(n, &k, p) ? "\", style=filled];\n" : "\"];\n");
	}
	for (uint32_t t = 0; t < n->ntrans; t++) {
		buf_printf(out, "  t%u [shape=box, label=\"", t + 1);
		dot_name(out, n->trans_name[t]);
		buf_str(out, "\"];\n");
		for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
			buf_printf(out, "  p%u -> t%u;\n", n->pre[i] + 1, t + 1);
		for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++)
			buf_printf(out, "  t%u -> p%u;\n", t + 1, n->post[i] + 1);
	}
	buf_str(out, "}\n");
}
