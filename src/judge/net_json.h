/*
 * net_json: a small net, and its prefix, as members of a result, for drawing:
 *   "net": {places: [names], transitions: [{name, pre, post}], initial}
 *   "prefix": {conditions: [{place, event}], events: [{transition, pre, post}]}
 * Large ones are left out: a picture of them says nothing.
 */
#ifndef INTACT_JUDGE_NET_JSON_H
#define INTACT_JUDGE_NET_JSON_H

#include "base/json_out.h"
#include "causal/unfold.h"

enum { NET_JSON_MAX = 400 }; /* nodes of the net, and of the prefix */

/* Members of the object that is open; `p` may be NULL. */
void net_json(const struct net *n, const struct prefix *p, struct json_out *j);

#endif
