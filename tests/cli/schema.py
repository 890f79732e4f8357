"""A JSON Schema validator for the keywords that share/report.schema.json uses,
and the requirements of SARIF 2.1.0 that matter to us, written from the
standard. Both return a list of complaints."""
import re

KEYWORDS = {"$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "required", "properties",
            "additionalProperties", "items", "minItems", "maxItems", "minimum", "maximum", "maxLength", "allOf", "if",
            "then"}


def is_type(t, v):
    return {"object": isinstance(v, dict), "array": isinstance(v, list), "string": isinstance(v, str),
            "boolean": isinstance(v, bool), "null": v is None,
            "integer": isinstance(v, int) and not isinstance(v, bool),
            "number": isinstance(v, (int, float)) and not isinstance(v, bool)}[t]


def validate(schema, value, root=None, at="", strict=True):
    """`strict`: a member that the schema does not name is a complaint too."""
    root = schema if root is None else root
    unknown = set(schema) - KEYWORDS
    assert not unknown, f"the validators do not know {unknown}"
    if "$ref" in schema:
        return validate(root["$defs"][schema["$ref"].split("/")[-1]], value, root, at, strict)
    bad = []
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_type(t, value) for t in types):
            return [f"{at}: {value!r:.60} is not {types}"]
    if "const" in schema and value != schema["const"]:
        bad.append(f"{at}: not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        bad.append(f"{at}: {value!r:.60} is not one of {schema['enum']}")
    if isinstance(value, dict):
        props, more = schema.get("properties", {}), schema.get("additionalProperties")
        bad += [f"{at}: {k} is missing" for k in schema.get("required", []) if k not in value]
        for k, v in value.items():
            if k in props:
                bad += validate(props[k], v, root, f"{at}.{k}", strict)
            elif isinstance(more, dict):
                bad += validate(more, v, root, f"{at}.{k}", strict)
            elif strict and props and "allOf" not in schema and set(props) != {"kind"}:
                bad.append(f"{at}.{k}: not in the schema")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 62):
            bad.append(f"{at}: {len(value)} elements")
        if "items" in schema:
            for i, v in enumerate(value):
                bad += validate(schema["items"], v, root, f"{at}[{i}]", strict)
    if is_type("integer", value) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        bad.append(f"{at}: {value} is out of range")
    for part in schema.get("allOf", []):
        bad += validate(part, value, root, at, strict)
    if "if" in schema and not validate(schema["if"], value, root, at, False):
        bad += validate(schema["then"], value, root, at, strict)
    return bad


def sarif_complaints(log):
    """What OASIS SARIF 2.1.0 asks of a log like ours."""
    bad = []

    def want(ok, what):
        if not ok:
            bad.append(what)

    def message(m, where):
        want(isinstance(m, dict) and isinstance(m.get("text"), str) and m["text"], f"{where}: no message text (3.11)")

    def uri(a, where):
        u = a.get("uri")
        want(isinstance(u, str) and u and u.isascii() and not set(u) & set(' "<>\\^`{|}'), f"{where}: uri {u!r} (3.4)")
        if isinstance(u, str):
            if "uriBaseId" in a:
                want(not u.startswith("/") and ":" not in u.split("/")[0], f"{where}: {u!r} is not relative (3.4.4)")
            else:
                want(u.startswith("file:///"), f"{where}: {u!r} is neither relative nor absolute (3.4.4)")

    def location(loc, where):
        phys = loc.get("physicalLocation")
        if phys:
            uri(phys["artifactLocation"], where)
            region = phys.get("region")
            if region:
                want(region["startLine"] >= 1 and region.get("startColumn", 1) >= 1, f"{where}: region (3.30)")
        if "message" in loc:
            message(loc["message"], where)

    want(log.get("version") == "2.1.0", "version (3.13.2)")
    want(isinstance(log.get("runs"), list), "runs (3.13.4)")
    for r in log["runs"]:
        driver = r["tool"]["driver"]
        want(bool(driver["name"]), "driver name (3.19.8)")
        want(re.match("(https|file)://", driver.get("informationUri", "")) and driver.get("version"), "tool properties (SARIF2005)")
        ids = [x["id"] for x in driver["rules"]]
        want(len(ids) == len(set(ids)), "rules are unique (3.19.23)")
        for rule in driver["rules"]:
            for k in ("shortDescription", "fullDescription", "help"):
                message(rule[k], f"rule {rule['id']}")
            # what Microsoft's validator asks for beyond the standard: SARIF1001, SARIF2012
            want(rule["name"].lower() != rule["id"].lower() and re.fullmatch("([A-Z][a-z]+)+", rule["name"]),
                 f"rule {rule['id']}: name {rule['name']} (SARIF1001)")
            want(re.match("(https|file)://.*#" + rule["id"] + "$", rule.get("helpUri", "")), f"rule {rule['id']}: helpUri (SARIF2012)")
            want(rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error"), "level (3.50.3)")
        want(r["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints"), "columnKind (3.14.17)")
        for inv in r["invocations"]:
            want(isinstance(inv["executionSuccessful"], bool), "executionSuccessful (3.20.14)")
            for n in inv["toolExecutionNotifications"]:
                message(n["message"], "notification")
        prints, suppressing = set(), [("suppressions" in x) for x in r["results"]]
        want(len(set(suppressing)) <= 1, "suppressions on all results or on none (3.27.23)")
        for x in r["results"]:
            want(ids[x["ruleIndex"]] == x["ruleId"], "ruleIndex (3.27.6)")
            want(x["kind"] == "fail" and x["level"] in ("note", "warning", "error"), "kind and level (3.27.9)")
            message(x["message"], x["ruleId"])
            want(len(x["locations"]) == 1, "one location (3.27.12)")
            for loc in x["locations"]:
                location(loc, x["ruleId"])
                phys = loc.get("physicalLocation")
                want(phys is None or phys.get("region", {}).get("startLine", 0) >= 1, f"{x['ruleId']}: a location without a region (SARIF2017)")
            p = x["partialFingerprints"]["intact/v1"]
            want(p not in prints, "fingerprints tell results apart (3.27.17)")
            prints.add(p)
            for s in x.get("suppressions", []):
                want(s["kind"] in ("inSource", "external"), "suppression kind (3.35.2)")
            for s in x.get("stacks", []):
                for f in s["frames"]:
                    location(f["location"], "frame")
            for flow in x.get("codeFlows", []):
                want(len(flow["threadFlows"]) >= 1, "threadFlows (3.36.3)")
                orders, names = [], [t["id"] for t in flow["threadFlows"]]
                want(len(names) == len(set(names)), "thread flows have ids of their own (3.37.2)")
                for t in flow["threadFlows"]:
                    want(len(t["locations"]) >= 1, "threadFlow locations (3.37.6)")
                    own = [l["executionOrder"] for l in t["locations"]]
                    want(own == sorted(own), "executionOrder rises within a thread (3.38.11)")
                    orders += own
                    for l in t["locations"]:
                        location(l["location"], "threadFlowLocation")
                        want(l["importance"] in ("important", "essential", "unimportant"), "importance (3.38.13)")
                        for v in l.get("state", {}).values():
                            message(v, "state")
                want(len(orders) == len(set(orders)) and min(orders) >= 1, "executionOrder is one order (3.38.11)")
    return bad
