// client: the Language Server Protocol over the pipes of `intact lsp`. No dependency but node itself.
"use strict";
const { spawn } = require("child_process");

class Client {
	// onNotify(method, params), onRequest(method, params) -> result, onExit(reason)
	constructor(path, options, handlers) {
		this.handlers = handlers;
		this.waiting = new Map();
		this.last = 0;
		this.buffer = Buffer.alloc(0);
		this.ended = false;
		this.process = spawn(path, ["lsp", ...options], { stdio: ["pipe", "pipe", "pipe"] });
		this.process.on("error", (e) => this.end(e.message));
		this.process.on("close", (code, signal) => this.end(this.said.trim() || (signal ? `signal ${signal}` : `exit code ${code}`)));
		this.process.stdin.on("error", () => {});
		this.said = "";
		this.process.stderr.on("data", (data) => { this.said = (this.said + data).slice(-1000); });
		this.process.stdout.on("data", (data) => this.receive(data));
	}

	end(reason) {
		if (this.ended)
			return;
		this.ended = true;
		for (const w of this.waiting.values())
			w.reject(new Error(`the language server ended: ${reason}`));
		this.waiting.clear();
		this.handlers.onExit(reason);
	}

	receive(data) {
		this.buffer = Buffer.concat([this.buffer, data]);
		for (;;) {
			const head = this.buffer.indexOf("\r\n\r\n");
			if (head < 0)
				return;
			const length = /Content-Length: *(\d+)/i.exec(this.buffer.toString("latin1", 0, head));
			const end = head + 4 + Number(length ? length[1] : 0);
			if (this.buffer.length < end)
				return;
			const text = this.buffer.toString("utf8", head + 4, end);
			this.buffer = this.buffer.subarray(end);
			this.take(JSON.parse(text));
		}
	}

	take(m) {
		if (m.method !== undefined && m.id !== undefined)
			this.send({ id: m.id, result: this.handlers.onRequest(m.method, m.params) ?? null });
		else if (m.method !== undefined)
			this.handlers.onNotify(m.method, m.params);
		else if (this.waiting.has(m.id)) {
			const w = this.waiting.get(m.id);
			this.waiting.delete(m.id);
			if (m.error)
				w.reject(Object.assign(new Error(m.error.message), { code: m.error.code }));
			else
				w.resolve(m.result);
		}
	}

	send(m) {
		const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...m }));
		if (!this.ended)
			this.process.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
	}

	notify(method, params) {
		this.send({ method, params });
	}

	// cancel: a CancellationToken of the editor, or nothing
	request(method, params, cancel) {
		if (this.ended)
			return Promise.reject(new Error("the language server is not running"));
		const id = ++this.last;
		cancel?.onCancellationRequested?.(() => this.notify("$/cancelRequest", { id }));
		return new Promise((resolve, reject) => {
			this.waiting.set(id, { resolve, reject });
			this.send({ id, method, params });
		});
	}

	async stop() {
		try {
			await this.request("shutdown");
			this.notify("exit");
		} catch {
			this.process.kill();
		}
	}
}

module.exports = { Client };
