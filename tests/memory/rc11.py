"""rc11: the outcomes of a litmus program under C11 as repaired by Lahav, Vafeiadis, Kang, Hur and Dreyer (RC11, PLDI 2017), by the axioms: every
reads-from relation and every modification order is tried. No machine, no schedules, nothing shared with Intact or litmus.py.

    rc11.outcomes(program)                  program: the text of litmus.c; acq_rel stores are release, loads acquire
    rc11.outcomes(program, ordered=False)   with RC11's own axiom for seq_cst; see below

Axioms: coherence (hb;eco? is irreflexive), atomicity (nothing between a read-modify-write and what it read), no thin air (po and rf are acyclic), and
seq_cst (psc is acyclic). A release sequence is what C++20 has: read-modify-writes alone continue it. With `ordered`, which is what the
explorer does, psc, po and rf together are acyclic: some order of the seq_cst operations is one in which the steps can be executed.
"""
import itertools
import re

READS, WRITES = "RXCA", "WXC"


class Event:
    def __init__(self, thread, kind, at, value, order, acq, rel, sc):
        self.thread, self.kind, self.at, self.value, self.order = thread, kind, at, value, order
        self.acq, self.rel, self.sc = acq, rel, sc
        self.read = self.write = False  # of this execution (a failed compare-and-swap does not write)
        self.got = None


def parse(text):
    threads = []
    for t, part in enumerate(text.split("|")):
        events = []
        for word in part.split():
            g = re.fullmatch(r"([WRXCA])([xyz])(\d?)([ras])|F([aqrs])", word)
            if not g:
                raise ValueError("bad instruction " + word)
            if g.group(5):
                o = g.group(5)
                events.append(Event(t, "F", None, None, o, o in "aqs", o in "ars", o == "s"))
                continue
            kind, at, value, o = g.group(1), "xyz".index(g.group(2)), int(g.group(3) or 0), g.group(4)
            cas = kind == "C"  # relaxed, in litmus.c
            waits = kind == "A"  # acquire
            acq = waits or not cas and kind in "RX" and o in "as"
            rel = not cas and kind in "WX" and o in "as"
            events.append(Event(t, kind, at, value, o, acq, rel, not cas and not waits and o == "s"))
        threads.append(events)
    return threads


def closure(n, pairs):
    """Bit sets of successors, transitively."""
    after = [0] * n
    for a, b in pairs:
        after[a] |= 1 << b
    for k in range(n):
        for i in range(n):
            if after[i] >> k & 1:
                after[i] |= after[k]
    return after


def acyclic(n, pairs):
    after = closure(n, pairs)
    return not any(after[i] >> i & 1 for i in range(n))


def has(after, a, b):
    return after[a] >> b & 1


def consistent(events, po, rf, mo, ordered):
    """events: initial writes first; rf: {read: write}; mo: {location: writes in order}."""
    n = len(events)
    place = {w: i for ws in mo.values() for i, w in enumerate(ws)}
    mo_pairs = [(a, b) for ws in mo.values() for i, a in enumerate(ws) for b in ws[i + 1:]]
    rf_pairs = [(w, r) for r, w in rf.items()]
    for w, r in rf_pairs:  # atomicity
        if events[r].write and place[r] != place[w] + 1:
            return False
    if not acyclic(n, po + rf_pairs):
        return False
    fr = [(r, b) for r, w in rf.items() for b in mo[events[r].at][place[w] + 1:] if b != r]
    # synchronises-with: a release write or fence; the read-modify-writes that read from each other; an acquire read or fence
    po_set = set(po)
    sw = []
    for w, r in rf_pairs:
        head = w
        chain = [head]
        while events[head].read:
            head = rf[head]
            chain.append(head)
        froms = set()
        for h in chain:
            if events[h].rel:
                froms.add(h)
            froms.update(f for f in range(n) if events[f].kind == "F" and events[f].rel and (f, h) in po_set)
        tos = {r} if events[r].acq else set()
        tos.update(f for f in range(n) if events[f].kind == "F" and events[f].acq and (r, f) in po_set)
        sw += [(a, b) for a in froms for b in tos if a != b]
    inits = [i for i in range(n) if events[i].thread < 0]
    hb = closure(n, po + sw + [(i, e) for i in inits for e in range(n) if events[e].thread >= 0])
    if any(has(hb, i, i) for i in range(n)):
        return False
    eco = closure(n, rf_pairs + mo_pairs + fr)
    for a in range(n):
        for b in range(n):
            if has(hb, a, b) and has(eco, b, a):
                return False
    if any(has(eco, i, i) for i in range(n)):
        return False
    # seq_cst
    loc = [e.at for e in events]
    scb = set(mo_pairs) | set(fr) | po_set
    for a in range(n):
        for b in range(n):
            if has(hb, a, b) and loc[a] is not None and loc[a] == loc[b]:
                scb.add((a, b))
    far = [(a, b) for a, b in po if loc[a] is None or loc[a] != loc[b]]
    for a, b in far:
        for c, d in far:
            if has(hb, b, c):
                scb.add((a, d))
    fences = [i for i in range(n) if events[i].kind == "F" and events[i].sc]
    accesses = [i for i in range(n) if events[i].kind != "F" and events[i].sc]
    heads = {i: {i} for i in accesses}  # [Esc] or [Fsc];hb?
    tails = {i: {i} for i in accesses}
    for f in fences:
        heads[f] = {f} | {e for e in range(n) if has(hb, f, e)}
        tails[f] = {f} | {e for e in range(n) if has(hb, e, f)}
    psc = [(a, b) for a in heads for b in tails if any((x, y) in scb for x in heads[a] for y in tails[b])]
    for f in fences:
        for g in fences:
            if has(hb, f, g) or any(has(hb, f, x) and has(eco, x, y) and has(hb, y, g) for x in range(n) for y in range(n)):
                psc.append((f, g))
    return acyclic(n, psc + (po + rf_pairs if ordered else []))


def executions(threads):
    """Every choice of what reads get: whether a compare-and-swap of 0 succeeds follows from that."""
    flat = [e for t in threads for e in t]
    locations = sorted({e.at for e in flat if e.at is not None})
    events = [Event(-1, "W", at, 0, "r", False, False, False) for at in locations] + flat
    for e in events:
        e.write, e.read = e.kind in "WX", e.kind in "RXCA"
    cas = [i for i, e in enumerate(events) if e.kind == "C"]
    po, base = [], len(locations)
    for t in threads:
        po += [(base + i, base + k) for i in range(len(t)) for k in range(i + 1, len(t))]
        base += len(t)
    reads = [i for i, e in enumerate(events) if e.read]
    for succeed in itertools.product((False, True), repeat=len(cas)):
        for i, ok in zip(cas, succeed):
            events[i].write = ok
        sources = [[w for w, x in enumerate(events) if x.write and x.at == events[r].at and w != r] for r in reads]
        for pick in itertools.product(*sources):
            rf = dict(zip(reads, pick))
            if any((events[rf[i]].value == 0) != ok for i, ok in zip(cas, succeed)):
                continue
            if any(events[r].kind == "A" and not events[rf[r]].value for r in reads):
                continue  # it waits on
            if len({rf[r] for r in reads if events[r].write}) != sum(events[r].write for r in reads):
                continue  # two read-modify-writes of the same write
            yield events, po, rf, locations


def outcomes(text, ordered=True):
    """The set of outcomes in the form of litmus.c. Values are 0 to 9 in each of two bytes."""
    threads = parse(text)
    found = set()
    for events, po, rf, locations in executions(threads):
        writes = [[i for i, e in enumerate(events) if e.write and e.at == at and e.thread >= 0] for at in locations]
        for orders in itertools.product(*(itertools.permutations(w) for w in writes)):
            mo = {at: [k] + list(o) for k, (at, o) in enumerate(zip(locations, orders))}
            words = "".join("%02x%02x," % ((events[rf[i]].value,) * 2) for i in sorted(rf) if events[i].kind in "RXC")
            last = {at: events[mo[at][-1]].value for at in locations}
            text = words + "".join("%02x%02x" % ((last.get(at, 0),) * 2) for at in range(3))
            if text not in found and consistent(events, po, rf, mo, ordered):
                found.add(text)
    return found
