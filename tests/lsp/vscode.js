// The VS Code extension against a real `intact lsp`, with a stand-in for the editor's module.
// Usage: node vscode.js EXTENSION-DIRECTORY INTACT MODEL RESULT.json RESULT.sarif; prints what the editor would show, as JSON.
"use strict";
const Module = require("module");
const fs = require("fs");
const path = require("path");
const [extension, intact, model, json, sarif] = process.argv.slice(2);

class Position { constructor(line, character) { this.line = line; this.character = character; } }
class Range { constructor(start, end) { this.start = start; this.end = end; } }
class Location { constructor(uri, range) { this.uri = uri; this.range = range; } }
const plain = (...names) => class { constructor(...args) { names.forEach((n, i) => { this[n] = args[i]; }); } };
const uri = (text) => ({ text, fsPath: decodeURIComponent(text.replace("file://", "")), toString: () => text });
const shown = { messages: [], panels: [], progress: 0 }, registered = {}, collections = {}, events = {}, commands = {};
const on = (name) => (f) => { events[name] = f; return { dispose() {} }; };
const register = (name) => (selector, provider) => { registered[name] = provider; return { dispose() {} }; };
const say = (kind) => (text) => { shown.messages.push([kind, text]); };
const document = { uri: uri("file://" + model), languageId: "intact-atm", version: 1, text: fs.readFileSync(model, "utf8"), getText() { return this.text; } };
const vscode = {
	Position, Range, Location,
	Diagnostic: plain("range", "message", "severity"), DiagnosticRelatedInformation: plain("location", "message"),
	Hover: plain("contents", "range"), MarkdownString: plain("value"), TextEdit: plain("range", "newText"),
	DocumentHighlight: plain("range", "kind"), DocumentSymbol: plain("name", "detail", "kind", "range", "selectionRange"),
	CompletionItem: plain("label", "kind"), CodeLens: plain("range", "command"), ProgressLocation: { Notification: 15 }, ViewColumn: { Beside: -2 },
	WorkspaceEdit: class { constructor() { this.list = []; } set(u, edits) { this.list.push([u.toString(), edits]); } },
	EventEmitter: class { constructor() { this.event = () => {}; this.fired = 0; } fire() { shown.refreshed = (shown.refreshed ?? 0) + 1; } },
	Uri: { parse: uri, file: (name) => uri("file://" + name) },
	languages: {
		createDiagnosticCollection(name) {
			collections[name] = new Map();
			return { set: (u, list) => { collections[name].set(u.toString(), list); events.diagnostics?.(); }, clear: () => collections[name].clear(), dispose() {} };
		},
		registerHoverProvider: register("hover"), registerDefinitionProvider: register("definition"), registerReferenceProvider: register("references"),
		registerDocumentHighlightProvider: register("highlights"), registerRenameProvider: register("rename"), registerCompletionItemProvider: register("completion"),
		registerDocumentFormattingEditProvider: register("format"), registerDocumentSymbolProvider: register("symbols"), registerCodeLensProvider: register("lens"),
	},
	commands: { registerCommand: (name, f) => { commands[name] = f; return { dispose() {} }; } },
	window: {
		showErrorMessage: say("error"), showWarningMessage: say("warning"), showInformationMessage: say("information"), showOpenDialog: async () => undefined,
		withProgress: (o, f) => { shown.progress++; return f({}, { onCancellationRequested() {} }); }, activeTextEditor: { document },
		createWebviewPanel: (type, title) => { const p = { title, webview: { html: "" } }; shown.panels.push(p); return p; },
	},
	workspace: {
		getConfiguration: () => ({ get: (name) => ({ path: intact, timeout: 20 })[name] }), textDocuments: [document],
		workspaceFolders: [{ uri: uri("file://" + path.dirname(model)) }],
		onDidOpenTextDocument: on("open"), onDidChangeTextDocument: on("change"), onDidCloseTextDocument: on("close"), onDidSaveTextDocument: on("save"),
	},
};
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode : load(name, ...rest);

const published = () => new Promise((resolve) => { events.diagnostics = resolve; });
const find = (text, nth = 0) => {
	let i = -1;
	for (let k = 0; k <= nth; k++)
		i = document.text.indexOf(text, i + 1);
	const before = document.text.slice(0, i).split("\n");
	return new Position(before.length - 1, before[before.length - 1].length);
};

(async () => {
	const out = {}, main = require(path.join(extension, "src/extension.js"));
	const first = published();
	await main.activate({ subscriptions: [] });
	await first;
	const server = () => collections.intact.get(document.uri.toString());
	out.first = server();
	out.hover = (await registered.hover.provideHover(document, find("count = v"))).contents.value;
	out.definition = (await registered.definition.provideDefinition(document, find("count = v"))).range.start.line;
	out.references = (await registered.references.provideReferences(document, find("count = v"), { includeDeclaration: true })).length;
	out.highlights = (await registered.highlights.provideDocumentHighlights(document, find("count = v"))).length;
	out.placeholder = (await registered.rename.prepareRename(document, find("count = v"))).placeholder;
	out.rename = (await registered.rename.provideRenameEdits(document, find("count = v"), "total")).list[0][1].length;
	out.refused = await registered.rename.provideRenameEdits(document, find("count = v"), "while").catch((e) => e.message);
	out.format = (await registered.format.provideDocumentFormattingEdits(document, {})).length;
	out.symbols = (await registered.symbols.provideDocumentSymbols(document)).map((s) => s.name);
	out.completion = (await registered.completion.provideCompletionItems(document, find("count = v"))).map((i) => i.label);
	const lens = await registered.lens.provideCodeLenses(document);
	out.lens = lens.map((l) => l.command.title);
	out.unregistered = lens.filter((l) => !commands[l.command.command]).length;
	out.check = await commands[lens[1].command.command](...lens[1].command.arguments);
	out.checked = server();
	await commands[lens[2].command.command](...lens[2].command.arguments);
	out.panel = [shown.panels[0].title, shown.panels[0].webview.html.length > 10000 && shown.panels[0].webview.html.includes("<html")];
	const edit = published(), start = find("count = v"), end = new Position(start.line, start.character + 5);
	document.text = document.text.replace("count = v", "cuont = v");
	document.version = 2;
	events.change({ document, contentChanges: [{ range: new Range(start, end), text: "cuont" }] });
	await edit;
	out.edited = server();
	out.json = await commands["intact.loadFindings"](uri("file://" + json));
	out.found = [...collections["intact findings"].entries()];
	out.sarif = await commands["intact.loadFindings"](uri("file://" + sarif));
	out.foundAgain = [...collections["intact findings"].entries()];
	out.broken = await commands["intact.loadFindings"](uri("file://" + model));
	out.messages = shown.messages;
	out.progress = shown.progress;
	const restarted = published();
	await commands["intact.restart"]();
	await restarted;
	await main.deactivate();
	console.log(JSON.stringify(out));
})().catch((e) => { console.error(e); process.exit(1); });
