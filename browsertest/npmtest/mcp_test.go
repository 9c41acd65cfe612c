package npmtest

import (
	"encoding/json"
	"net/http"
	"testing"
)

// mcpServer is an MCP server with one tool, which answers who asked with which token.
func mcpServer(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "no stream", http.StatusMethodNotAllowed)
		return
	}
	if r.Header.Get("Authorization") == "" {
		http.Error(w, "who asks?", http.StatusForbidden)
		return
	}
	var m struct {
		ID     any
		Method string
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	results := map[string]any{
		"initialize": map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "notes", "version": "1"}},
		"tools/list": map[string]any{"tools": []any{map[string]any{"name": "who", "description": "Says who asks", "inputSchema": map[string]any{"type": "object"}}}},
		"tools/call": map[string]any{"content": []any{map[string]any{"type": "text", "text": "asked with a token of " + r.Header.Get("Authorization")[7:12] + ", or all of it: " + r.Header.Get("Authorization")}}},
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": results[m.Method]})
}

// A box has the tools of MCP servers, by their address and in the page.
func TestMCP(t *testing.T) {
	p, console := kit(t, bareAgent(t), "")
	const open = `const url = new URL('mcp', location.href).href, grants = {'net.fetch': [location.host], 'stream.send': true};
		const open = (options) => box({standard: false, policy: {capabilities: grants}, ask: () => 'once', ...options});
		/** A server in the page. */
		const served = (tools, call, more) => { const {port1, port2} = new MessageChannel(); const log = []; port1.onmessage = async ({data}) => { if (data === '') { log.push('end'); return; } const m = JSON.parse(data); log.push(m.method ?? 'answer ' + JSON.stringify(m.result ?? m.error)); if (m.id === undefined || !m.method) return;
			const reply = (result) => port1.postMessage(JSON.stringify({jsonrpc: '2.0', id: m.id, result}));
			if (m.method === 'initialize') reply({protocolVersion: '2025-06-18', capabilities: {tools: {}}, serverInfo: {name: 'x', version: '1'}}); else if (m.method === 'tools/list') reply({tools}); else if (m.method === 'tools/call') reply(await call(m.params, port1)); else reply({}); };
			return {port: port2, log}; };
		const add = [{name: 'add', description: 'Adds', inputSchema: {type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b']}}]; `
	list := []row{
		{"by its address, with a token", `let asked = 0; const questions = []; const b = await open({mcp: [{name: 'notes', url, token: async () => 'tok' + String(++asked).padStart(2, '0') + '-which-is-secret'}], ask: (q) => { questions.push([q.tool, q.untrusted]); return 'once'; }});
			const c = await all(await b.session(), {calls: [{tool: 'notes_who', args: {}}]}, {echo: true}); await b.close(); return [text(c).includes('asked with a token of tok0'), text(c).includes('all of it: Bearer {{secret:notes}}'), text(c).includes('which-is-secret'), asked > 2, questions]`, `[true,true,false,true,[["notes_who",true]]]`},
		{"with a header", `const b = await open({mcp: [{name: 'notes', url, header: {Authorization: 'Bearer fixed-token'}}]}); const r = JSON.stringify(await b.call('notes_who')); return [r.includes('token of fixed'), r.includes('fixed-token')]`, `[true,false]`},
		{"a refusal sends nothing", `const s = served(add, () => ({content: []})); const b = await open({mcp: [{name: 'page', port: s.port}], ask: () => 'reject'}); const said = await failed(b.call('page_add', {a: 1, b: 2})); return [said.includes('declined'), s.log.includes('tools/call')]`, `[true,false]`},
		{"in the page, by a port", `const s = served(add, ({arguments: {a, b}}) => ({content: [{type: 'text', text: String(a + b)}]})); const b = await open({mcp: [{name: 'page', port: s.port}]}); const r = await b.call('page_add', {a: 1, b: 2});
			await b.close(); for (let i = 0; i < 50 && s.log.at(-1) !== 'end'; i++) await new Promise((r) => setTimeout(r, 20)); return [JSON.stringify(r).includes('3'), s.log.at(-1)]`, `[true,"end"]`},
		{"two servers", `const one = served(add, () => ({content: [{type: 'text', text: 'one'}]})), two = served(add, () => ({content: [{type: 'text', text: 'two'}]})); const b = await open({mcp: [{name: 'one', port: one.port}, {name: 'two', port: two.port}]});
			return [(await b.tools()).map((t) => t.name).filter((n) => n.endsWith('_add')), JSON.stringify(await b.call('two_add', {a: 1, b: 2})).includes('two')]`, `[["one_add","two_add"],true]`},
		{"a host that is not granted", `const b = await open({mcp: [{name: 'notes', url, header: {Authorization: 'Bearer fixed-token'}}], policy: {capabilities: {'net.fetch': ['other.example'], 'stream.send': true}}}); return failed(b.call('notes_who')).then((x) => x.split(':')[0])`, `"CAPABILITY_DENIED"`},
		{"arguments that do not match never reach it", `const s = served(add, () => ({content: []})); const b = await open({mcp: [{name: 'page', port: s.port}]}); return [(await failed(b.call('page_add', {a: '1', b: 2}))).split(':')[0], s.log.includes('tools/call')]`, `["INVALID_PARAMS",false]`},
		{"a server without its token", `return failed(open({mcp: [{name: 'notes', url}]})).then((x) => [x.includes('mcp: notes'), x.includes('403')])`, `[true,true]`},
		{"a token that throws", `return failed(open({mcp: [{name: 'notes', url, token: () => { throw new Error('signed out'); }}]})).then((x) => x.includes('signed out'))`, `true`},
		{"a token is in no error", `return failed(open({mcp: [{name: 'notes', url: new URL('none', location.href).href, token: () => 'secret-token'}]})).then((x) => x.includes('secret-token'))`, `false`},
	}
	for name, c := range map[string][2]string{
		"no list":                {`{}`, `must be a list`},
		"no name":                {`[{url: 'https://mcp.example/'}]`, `ame`},
		"an unknown option":      {`[{name: 'a', uri: 'x'}]`, `uri: there is no such option`},
		"a port that is none":    {`[{name: 'a', port: {}}]`, `MessagePort`},
		"a token for a port":     {`[{name: 'a', port: new MessageChannel().port1, token: () => ''}]`, `a port needs none`},
		"a token that is a text": {`[{name: 'a', url: 'https://mcp.example/', token: 'x'}]`, `must be a function`},
		"an address of http":     {`[{name: 'a', url: 'http://mcp.example/'}]`, `https`},
	} {
		list = append(list, row{"an error at once: " + name, `const said = await failed(open({mcp: ` + c[0] + `})); return said.includes(` + quote(c[1]) + `) ? true : said`, `true`})
	}
	for i := range list {
		list[i].script = open + list[i].script
	}
	rows(t, p, list)
	if t.Failed() {
		t.Logf("console: %q", console())
	}
}
