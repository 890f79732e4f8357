// extension: the language server in VS Code: its answers as the editor's own objects; the page of a run in a panel; findings of C programs.
"use strict";
const vscode = require("vscode");
const fs = require("fs");
const path = require("path");
const { Client } = require("./client");
const findings = require("./findings");

const LANGUAGES = ["intact-atm", "intact-sml", "intact-spec"];
let client = null, server = null, found = null, lenses = null, stopping = false;

const setting = (name) => vscode.workspace.getConfiguration("intact").get(name);
const pos = (p) => new vscode.Position(p.line, p.character);
const range = (r) => new vscode.Range(pos(r.start), pos(r.end));
const id = (document) => ({ textDocument: { uri: document.uri.toString() } });
const at = (document, p) => ({ ...id(document), position: { line: p.line, character: p.character } });
const location = (l) => new vscode.Location(vscode.Uri.parse(l.uri), range(l.range));
const ours = (document) => LANGUAGES.includes(document.languageId);

// ---- diagnostics ----

function diagnostic(d) {
	const made = new vscode.Diagnostic(range(d.range), d.message, d.severity - 1);
	made.source = d.source;
	made.code = d.code;
	made.tags = d.tags;
	made.relatedInformation = (d.relatedInformation ?? []).map((r) => new vscode.DiagnosticRelatedInformation(location(r.location), r.message));
	return made;
}

function onNotify(method, p) {
	if (method === "textDocument/publishDiagnostics")
		server.set(vscode.Uri.parse(p.uri), p.diagnostics.map(diagnostic));
	else if (method === "window/showMessage")
		[null, vscode.window.showErrorMessage, vscode.window.showWarningMessage, vscode.window.showInformationMessage, vscode.window.showInformationMessage][p.type](p.message);
}

function onRequest(method) {
	if (method === "workspace/codeLens/refresh")
		lenses.fire();
	return null;
}

// ---- the server ----

async function start() {
	stopping = false;
	const mine = new Client(setting("path"), [`--timeout=${setting("timeout")}`], { onNotify, onRequest, onExit: (why) => {
		server.clear();
		if (!stopping && client === mine)
			vscode.window.showErrorMessage(`intact lsp: ${why} (the command is the setting intact.path)`);
	} });
	client = mine;
	await mine.request("initialize", { processId: process.pid, rootUri: null, capabilities: {
		workspace: { codeLens: { refreshSupport: true } },
		textDocument: { hover: { contentFormat: ["markdown"] }, documentSymbol: { hierarchicalDocumentSymbolSupport: true } } } });
	mine.notify("initialized", {});
	for (const d of vscode.workspace.textDocuments)
		open(d);
}

async function stop() {
	stopping = true;
	await client?.stop();
}

function open(d) {
	if (ours(d))
		client.notify("textDocument/didOpen", { textDocument: { uri: d.uri.toString(), languageId: d.languageId, version: d.version, text: d.getText() } });
}

function change(e) {
	if (ours(e.document) && e.contentChanges.length)
		client.notify("textDocument/didChange", { textDocument: { ...id(e.document).textDocument, version: e.document.version },
			contentChanges: e.contentChanges.map((c) => ({ range: { start: c.range.start, end: c.range.end }, text: c.text })) });
}

// ---- what the editor asks ----

const edits = (list) => (list ?? []).map((e) => new vscode.TextEdit(range(e.range), e.newText));
function symbol(s) {
	const made = new vscode.DocumentSymbol(s.name, "", s.kind - 1, range(s.range), range(s.selectionRange));
	made.children = s.children.map(symbol);
	return made;
}

const providers = {
	hover: { provideHover: async (d, p, c) => {
		const h = await client.request("textDocument/hover", at(d, p), c);
		return h && new vscode.Hover(new vscode.MarkdownString(h.contents.value), range(h.range));
	} },
	definition: { provideDefinition: async (d, p, c) => {
		const l = await client.request("textDocument/definition", at(d, p), c);
		return l && location(l);
	} },
	references: { provideReferences: async (d, p, context, c) =>
		(await client.request("textDocument/references", { ...at(d, p), context }, c)).map(location) },
	highlights: { provideDocumentHighlights: async (d, p, c) =>
		(await client.request("textDocument/documentHighlight", at(d, p), c)).map((h) => new vscode.DocumentHighlight(range(h.range), h.kind - 1)) },
	rename: {
		prepareRename: async (d, p, c) => {
			const r = await client.request("textDocument/prepareRename", at(d, p), c);
			if (!r)
				throw new Error("there is no name here that is declared in the file");
			return { range: range(r.range), placeholder: r.placeholder };
		},
		provideRenameEdits: async (d, p, newName, c) => {
			const r = await client.request("textDocument/rename", { ...at(d, p), newName }, c);
			const all = new vscode.WorkspaceEdit();
			for (const [uri, list] of Object.entries(r.changes))
				all.set(vscode.Uri.parse(uri), edits(list));
			return all;
		},
	},
	format: { provideDocumentFormattingEdits: async (d, options, c) => edits(await client.request("textDocument/formatting", { ...id(d), options }, c)) },
	symbols: { provideDocumentSymbols: async (d, c) => (await client.request("textDocument/documentSymbol", id(d), c)).map(symbol) },
	completion: { provideCompletionItems: async (d, p, c) => (await client.request("textDocument/completion", at(d, p), c)).items.map((i) => {
		const made = new vscode.CompletionItem(i.label, i.kind - 1);
		made.detail = i.detail;
		return made;
	}) },
	lens: { provideCodeLenses: async (d, c) => (await client.request("textDocument/codeLens", id(d), c)).map((l) => new vscode.CodeLens(range(l.range), l.command)) },
};

// ---- commands ----

async function execute(command, args) {
	try {
		return await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: `intact: ${args[1] ?? "check"}`, cancellable: true },
			(_, cancel) => client.request("workspace/executeCommand", { command, arguments: args }, cancel));
	} catch (e) {
		if (e.code !== -32800 && e.code !== -32801)
			vscode.window.showErrorMessage(`intact: ${e.message}`);
		return null;
	}
}

async function showRun(...args) {
	const r = await execute("intact.showRun", args);
	if (!r)
		return null;
	const panel = vscode.window.createWebviewPanel("intact.run", `Intact: ${args[1] ?? path.basename(args[0])}`, vscode.ViewColumn.Beside, { enableScripts: true });
	panel.webview.html = fs.readFileSync(r.path, "utf8");
	return r;
}

async function loadFindings(given) {
	const uri = given ?? (await vscode.window.showOpenDialog({ filters: { "Results of Intact": ["json", "sarif"] }, canSelectMany: false }))?.[0];
	if (!uri)
		return 0;
	const base = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? path.dirname(uri.fsPath);
	let list;
	try {
		list = findings.load(uri.fsPath, setting("path"), base);
	} catch (e) {
		vscode.window.showErrorMessage(`intact: ${uri.fsPath}: ${e.message}`);
		return 0;
	}
	const spot = (f) => new vscode.Range(new vscode.Position(f.line - 1, f.column - 1), new vscode.Position(f.line - 1, 1000));
	const severity = { error: 0, warning: 1, note: 2, none: 3 };
	const byFile = new Map();
	for (const f of list) {
		const d = new vscode.Diagnostic(spot(f), f.message, severity[f.level] ?? 1);
		d.source = "intact";
		d.code = f.rule;
		d.relatedInformation = f.related.map((r) => new vscode.DiagnosticRelatedInformation(new vscode.Location(vscode.Uri.file(r.file), spot(r)), r.message));
		byFile.set(f.file, [...(byFile.get(f.file) ?? []), d]);
	}
	found.clear();
	for (const [file, all] of byFile)
		found.set(vscode.Uri.file(file), all);
	vscode.window.showInformationMessage(`intact: ${list.length} finding${list.length === 1 ? "" : "s"} in ${byFile.size} file${byFile.size === 1 ? "" : "s"}`);
	return list.length;
}

async function activate(context) {
	server = vscode.languages.createDiagnosticCollection("intact");
	found = vscode.languages.createDiagnosticCollection("intact findings");
	lenses = new vscode.EventEmitter();
	providers.lens.onDidChangeCodeLenses = lenses.event;
	const l = vscode.languages, c = vscode.commands.registerCommand, all = LANGUAGES.map((language) => ({ language }));
	context.subscriptions.push(server, found,
		l.registerHoverProvider(all, providers.hover), l.registerDefinitionProvider(all, providers.definition),
		l.registerReferenceProvider(all, providers.references), l.registerDocumentHighlightProvider(all, providers.highlights),
		l.registerRenameProvider(all, providers.rename), l.registerDocumentFormattingEditProvider(all, providers.format),
		l.registerDocumentSymbolProvider(all, providers.symbols), l.registerCompletionItemProvider(all, providers.completion, "."),
		l.registerCodeLensProvider(all, providers.lens),
		vscode.workspace.onDidOpenTextDocument(open), vscode.workspace.onDidChangeTextDocument(change),
		vscode.workspace.onDidCloseTextDocument((d) => ours(d) && client.notify("textDocument/didClose", id(d))),
		vscode.workspace.onDidSaveTextDocument((d) => ours(d) && client.notify("textDocument/didSave", id(d))),
		c("intact.checkBlock", (...args) => execute("intact.checkBlock", args)),
		c("intact.checkModel", (...args) => execute("intact.checkModel", args)),
		c("intact.checkFile", () => vscode.window.activeTextEditor && execute("intact.checkModel", [vscode.window.activeTextEditor.document.uri.toString()])),
		c("intact.showRun", showRun), c("intact.loadFindings", loadFindings), c("intact.clearFindings", () => found.clear()),
		c("intact.restart", async () => { await stop(); await start(); }));
	try {
		await start();
	} catch { /* onExit has told the user */ }
}

module.exports = { activate, deactivate: stop };
