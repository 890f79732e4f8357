#include "judge/net_json.h"

#include <string.h>

static void ids(const char *key, const uint32_t *v, uint32_t n, struct buf *out)
{
	buf_printf(out, ", \"%s\": [", key);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "%s%u", i ? ", " : "", v[i]);
	buf_char(out, ']');
}

static void net(const struct net *n, struct buf *out)
{
	buf_str(out, ",\n  \"net\": {\"places\": [");
	for (uint32_t p = 0; p < n->nplaces; p++) {
		buf_str(out, p ? ", " : "");
		buf_json(out, n->place_name[p], strlen(n->place_name[p]));
	}
	buf_str(out, "],\n    \"transitions\": [");
	for (uint32_t t = 0; t < n->ntrans; t++) {
		buf_str(out, t ? ",\n      {\"name\": " : "\n      {\"name\": ");
		buf_json(out, n->trans_name[t], strlen(n->trans_name[t]));
		ids("pre", n->pre + n->pre_at[t], net_npre(n, t), out);
		ids("post", n->post + n->post_at[t], net_npost(n, t), out);
		buf_char(out, '}');
	}
	buf_char(out, ']');
	ids("initial", n->init, n->ninit, out);
	buf_char(out, '}');
}

/* Events that were found to be cut-offs are not kept: their numbers are left
 * out, and those of the others close up. */
static void prefix(const struct prefix *p, struct buf *out)
{
	const struct config *c = &p->cfg;
	bool first = true;
	buf_str(out, ",\n  \"prefix\": {\"conditions\": [");
	for (uint32_t i = 0; i < p->nconds; i++)
		buf_printf(out, "%s{\"place\": %u}", i ? ", " : "", c->conds[i].place);
	buf_str(out, "],\n    \"events\": [");
	for (uint32_t e = 1; e < p->nevents; e++) {
		const struct uf_event *ev = &c->events[e];
		if (ev->dead)
			continue;
		buf_printf(out, "%s{\"transition\": %u", first ? "\n      " : ",\n      ", ev->trans);
		ids("pre", uf_pre(c, e), net_npre(p->net, ev->trans), out);
		buf_str(out, ", \"post\": [");
		for (uint32_t i = 0; i < net_npost(p->net, ev->trans); i++)
			buf_printf(out, "%s%u", i ? ", " : "", ev->post + i);
		buf_str(out, "]}");
		first = false;
	}
	buf_str(out, "]}");
}

void net_json(const struct net *n, const struct prefix *p, struct buf *out)
{
	if (n->nplaces > NET_JSON_MAX || n->ntrans > NET_JSON_MAX)
		return;
	net(n, out);
	if (p && p->nconds <= NET_JSON_MAX && p->nevents <= NET_JSON_MAX)
		prefix(p, out);
}
