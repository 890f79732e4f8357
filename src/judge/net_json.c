#include "judge/net_json.h"

#include "base/invariant.h"

static void ids(const char *key, const uint32_t *v, uint32_t n, struct json_out *j)
{
	json_begin_array(j, key);
	for (uint32_t i = 0; i < n; i++)
		json_uint(j, NULL, v[i]);
	json_end(j);
}

static void net(const struct net *n, struct json_out *j)
{
	json_line(j, 2);
	json_begin_object(j, "net");
	json_begin_array(j, "places");
	for (uint32_t p = 0; p < n->nplaces; p++)
		json_text(j, NULL, n->place_name[p]);
	json_end(j);
	json_line(j, 4);
	json_begin_array(j, "transitions");
	for (uint32_t t = 0; t < n->ntrans; t++) {
		json_line(j, 6);
		json_begin_object(j, NULL);
		json_text(j, "name", n->trans_name[t]);
		ids("pre", n->pre + n->pre_at[t], net_npre(n, t), j);
		ids("post", n->post + n->post_at[t], net_npost(n, t), j);
		json_end(j);
	}
	json_end(j);
	ids("initial", n->init, n->ninit, j);
	json_end(j);
}

/* Events that were found to be cut-offs are not kept: their numbers are left
 * out, and those of the others close up. */
static void prefix(const struct prefix *p, struct json_out *j)
{
	const struct config *c = &p->cfg;
	json_line(j, 2);
	json_begin_object(j, "prefix");
	json_begin_array(j, "conditions");
	for (uint32_t i = 0; i < p->nconds; i++) {
		json_begin_object(j, NULL);
		json_uint(j, "place", c->conds[i].place);
		json_end(j);
	}
	json_end(j);
	json_line(j, 4);
	json_begin_array(j, "events");
	for (uint32_t e = 1; e < p->nevents; e++) {
		const struct uf_event *ev = &c->events[e];
		if (ev->dead)
			continue;
		json_line(j, 6);
		json_begin_object(j, NULL);
		json_uint(j, "transition", ev->trans);
		ids("pre", uf_pre(c, e), net_npre(p->net, ev->trans), j);
		json_begin_array(j, "post");
		for (uint32_t i = 0; i < net_npost(p->net, ev->trans); i++)
			json_uint(j, NULL, ev->post + i);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void net_json(const struct net *n, const struct prefix *p, struct json_out *j)
{
	assert(n);
	if (n->nplaces > NET_JSON_MAX || n->ntrans > NET_JSON_MAX)
		return;
	net(n, j);
	if (p && p->nconds <= NET_JSON_MAX && p->nevents <= NET_JSON_MAX)
		prefix(p, j);
}
