// findings: what `intact run`, `trace` or `explore` reported about C and C++ programs, from a SARIF file or a result as JSON (which `intact
// report --sarif` turns into one), as a list of {file, line, column, level, rule, message, related: [{file, line, column, message}]}.
"use strict";
const { spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const url = require("url");

function file(location, base) {
	const uri = location?.physicalLocation?.artifactLocation?.uri;
	if (!uri)
		return null;
	if (uri.startsWith("file://"))
		return url.fileURLToPath(uri);
	const plain = decodeURIComponent(uri);
	return path.isAbsolute(plain) ? plain : path.join(base, plain);
}

function place(location, base) {
	const name = file(location, base), region = location?.physicalLocation?.region;
	return name && { file: name, line: region?.startLine ?? 1, column: region?.startColumn ?? 1 };
}

function fromSarif(sarif, base) {
	if (typeof sarif !== "object" || !sarif || !Array.isArray(sarif.runs))
		throw new Error("not a SARIF file: it has no runs");
	const found = [];
	for (const run of sarif.runs)
		for (const r of run.results ?? []) {
			const at = place(r.locations?.[0], base);
			if (!at || r.kind === "pass" || r.suppressions?.length)
				continue;
			const related = [];
			for (const l of r.relatedLocations ?? [])
				related.push({ at: place(l, base), message: l.message?.text ?? "" });
			for (const flow of r.codeFlows ?? [])
				for (const t of flow.threadFlows ?? [])
					for (const s of t.locations ?? [])
						related.push({ at: place(s.location, base), message: `${t.id ? t.id + ": " : ""}${s.location?.message?.text ?? ""}`, order: s.executionOrder ?? 0 });
			related.sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
			found.push({ ...at, level: r.level ?? "warning", rule: r.ruleId ?? "", message: r.message?.text ?? "",
				related: related.filter((x) => x.at).slice(0, 100).map((x) => ({ ...x.at, message: x.message })) });
		}
	return found;
}

// Reads a file of either kind.
function load(name, intact, base) {
	const text = fs.readFileSync(name, "utf8");
	let doc = JSON.parse(text);
	if (doc && doc.schema === "intact-1") {
		const r = spawnSync(intact, ["report", "--sarif=-", name], { encoding: "utf8", maxBuffer: 1 << 28 });
		if (r.error || ![0, 1, 3].includes(r.status)) // that of the result
			throw new Error(r.error ? r.error.message : r.stderr.trim());
		doc = JSON.parse(r.stdout);
	}
	return fromSarif(doc, base);
}

module.exports = { fromSarif, load };
