-- Neovim's own client against `intact lsp`; INTACT, MODEL, OUT and VIMDIR are in the environment. An error goes to OUT, too.
local intact, model, out = os.getenv("INTACT"), os.getenv("MODEL"), os.getenv("OUT")
local result = {}
local function session()
vim.cmd("set rtp+=" .. os.getenv("VIMDIR"))
vim.cmd("filetype plugin indent on")
vim.cmd("edit " .. model)
result.filetype = vim.bo.filetype
local id = vim.lsp.start_client({ name = "intact", cmd = { intact, "lsp" }, root_dir = "/" })
vim.lsp.buf_attach_client(0, id)
local function wait(f) return vim.wait(30000, f, 20) end
local function ask(method, params)
	local r = vim.lsp.buf_request_sync(0, method, params, 30000)
	return r and r[id] and r[id].result
end
result.initialized = wait(function() local c = vim.lsp.get_client_by_id(id); return c and c.initialized end)
local line = vim.fn.search("count = v", "w")
vim.fn.cursor(line, 3)
local at = vim.lsp.util.make_position_params()
local hover = ask("textDocument/hover", at)
result.hover = hover and hover.contents.value
local definition = ask("textDocument/definition", at)
result.definition = definition and definition.range.start.line + 1
vim.api.nvim_buf_set_lines(0, line - 1, line, false, { "  cuont = v;" })
wait(function() return #vim.diagnostic.get(0) > 0 end)
result.diagnostics = vim.tbl_map(function(d) return { d.lnum + 1, d.col, d.message } end, vim.diagnostic.get(0))
vim.api.nvim_buf_set_lines(0, line - 1, line, false, { "    count   =  v;" })
wait(function() return #vim.diagnostic.get(0) == 0 end)
result.cleared = #vim.diagnostic.get(0)
local edits = ask("textDocument/formatting", { textDocument = vim.lsp.util.make_text_document_params(), options = { tabSize = 2, insertSpaces = true } })
if edits then vim.lsp.util.apply_text_edits(edits, 0, "utf-16") end
result.formatted = vim.api.nvim_buf_get_lines(0, line - 1, line, false)[1]
local check = ask("workspace/executeCommand", { command = "intact.checkBlock", arguments = { vim.uri_from_bufnr(0), "worker.increment" } })
result.verdict = check and check.verdict
wait(function() return #vim.diagnostic.get(0) > 0 end)
result.checked = vim.tbl_map(function(d) return d.message end, vim.diagnostic.get(0))
vim.lsp.stop_client(id)
end
local ok, err = pcall(session)
result.failed = not ok and tostring(err) or nil
local f = io.open(out, "w")
f:write(vim.fn.json_encode(result))
f:close()
vim.cmd("qall!")
