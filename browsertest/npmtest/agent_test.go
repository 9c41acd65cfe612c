package npmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// kit opens the page of a built project that calls kit() of testdata, under the strict policy, with the scripted model on its own server.
// The page must raise no violation.
func kit(t *testing.T, files, types string) (p browser.Page, console func() []string) {
	return kitAt(t, files, hosting{strict: true, types: types})
}

// kitAt opens such a page in another way of hosting.
func kitAt(t *testing.T, files string, h hosting) (p browser.Page, console func() []string) {
	ctx := testContext(t)
	static := http.FileServer(http.Dir(files))
	cdn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		static.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { cdn.CloseClientConnections(); cdn.Close() })
	html, err := os.ReadFile(filepath.Join(files, "index.html"))
	must(t, err)
	csp := strings.Replace(policy, "trusted-types bailey", "trusted-types bailey"+h.types, 1)
	if h.cdn {
		html = []byte(strings.NewReplacer(`src="./`, `crossorigin src="`+cdn.URL+"/", `href="./`, `href="`+cdn.URL+"/").Replace(string(html)))
		csp = strings.NewReplacer("script-src 'self'", "script-src "+cdn.URL, "connect-src 'self'", "connect-src 'self' "+cdn.URL).Replace(csp) // the model is on the page's server
	}
	vault := &vault{}
	server := httptest.NewServer(http.StripPrefix("/"+strings.TrimSuffix(h.folder, "/"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimPrefix(r.URL.Path, "/"); path {
		case "model/v1/chat/completions":
			model(w, r)
			return
		case "mcp":
			mcpServer(w, r)
			return
		case "vault/echo", "vault/away", "vault/seen":
			vault.ServeHTTP(w, r)
			return
		case "":
			if h.strict {
				w.Header().Set("Content-Security-Policy", csp)
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write(html)
			return
		}
		if h.cdn {
			http.NotFound(w, r)
			return
		}
		if h.strict {
			w.Header().Set("Content-Security-Policy", csp)
		}
		static.ServeHTTP(w, r)
	})))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	var mu sync.Mutex
	var lines []string
	console = func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), lines...)
	}
	p, err = chrome.Open(ctx, server.URL+"/"+h.folder, browser.Events{Console: func(kind, text string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, kind+": "+text)
	}})
	must(t, err)
	t.Cleanup(func() {
		if v, err := p.Eval(ctx, `globalThis.violations`); err != nil || string(v) != "[]" {
			t.Errorf("violations %s, %v", v, err)
		}
		p.Close()
	})
	poll.Until(t, "the page has its program", func() bool {
		v, err := p.Eval(ctx, `!!(globalThis.kit || globalThis.failed)`)
		return err == nil && string(v) == "true"
	}, func() string { return fmt.Sprint(console()) })
	if v, err := p.Eval(ctx, `globalThis.failed ?? ''`); err != nil || string(v) != `""` {
		t.Fatalf("%s, %v; %q", v, err, console())
	}
	return p, console
}

// row is a script for the page, whose value is want as JSON.
type row struct{ name, script, want string }

func rows(t *testing.T, p browser.Page, list []row) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(testContext(t), time.Minute) // ends only a row that has failed
			defer cancel()
			got, err := p.Eval(ctx, `(async () => { const {bailey, transport, model, box, turns, all, types, text, of, failed} = globalThis.kit; `+c.script+` })().catch((e) => 'thrown: ' + e + ' ' + e?.stack)`)
			var have, want any // the members of an object have no order
			if err == nil {
				err = errors.Join(json.Unmarshal(got, &have), json.Unmarshal([]byte(c.want), &want))
			}
			if err != nil || !reflect.DeepEqual(have, want) {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

// bareAgent is the folder of a page without a bundler that has a box.
func bareAgent(t *testing.T) string {
	t.Helper()
	dir := project(t, "agent", t.TempDir())
	must(t, os.CopyFS(filepath.Join(dir, "bailey"), os.DirFS(dist)))
	return dir
}

func TestAgent(t *testing.T) {
	p, console := kit(t, bareAgent(t), "")
	rows(t, p, []row{
		{"a text", `const s = await (await box({})).session(); const c = await all(s, {text: 'Hello'}); return [types(c), text(c), of(c, 'finish').finishReason, of(c, 'finish').messageMetadata.usage.input]`,
			`["start start-step text-start text-delta text-end finish-step finish","Hello","stop",10]`},
		{"it has all that bailey.wasm has", `return [(await bailey.markdown('*a*')).trim(), (await bailey.run('return 1 + 1')).value]`, `["<p><em>a</em></p>",2]`},
		{"a tool of the page", `const got = []; const s = await (await box({standard: false, tools: {add: {description: 'Adds', parameters: {type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b'], additionalProperties: false},
				run: (args, call) => { got.push(args, call.signal instanceof AbortSignal, call.session === s.id, 'folder' in call); return {sum: args.a + args.b}; }}}})).session();
			const c = await all(s, {calls: [{tool: 'add', args: {a: 1, b: 2}}]}, {echo: true}); return [got, of(c, 'tool-output-available').output, text(c).includes('3')]`,
			`[[{"a":1,"b":2},true,true,false],{"sum":3},true]`},
		{"arguments that do not match never reach the tool", `let ran = 0; const s = await (await box({tools: {add: {parameters: {type: 'object', properties: {a: {type: 'number'}}, required: ['a'], additionalProperties: false}, run: () => { ran++; }}}})).session();
			const c = await all(s, {calls: [{tool: 'add', args: {a: '1'}}, {tool: 'add', args: {a: 1, __proto: 2}}, {tool: 'add', args: '{"a":1,"__proto__":{}}'}, {tool: 'add', args: '{'}]}, {text: 'so'});
			return [ran, c.filter((x) => x.type === 'tool-output-error' || x.type === 'tool-input-error').length]`, `[0,4]`},
		{"a folder, a question and an undo", `const folder = await bailey.folder.memory(); await folder.write('a.txt', 'one\n'); const asked = [];
			const s = await (await box({folder, ask: (q, {signal}) => { asked.push(q, signal instanceof AbortSignal); return 'once'; }})).session();
			const c = await all(s, {calls: [{tool: 'read', args: {path: 'a.txt'}}]}, {calls: [{tool: 'edit', args: {path: 'a.txt', old_string: 'one', new_string: 'two'}}]}, {text: 'done'});
			const q = asked[0], changed = await folder.text('a.txt'); await folder.undo(); const call = c.find((x) => x.toolName === 'edit');
			return [types(c).includes('tool-approval-request tool-approval-response tool-output-available'), changed, await folder.text('a.txt'), q.toolCallId === call.toolCallId && q.call !== '', q.tool, q.title, q.effects, q.risk, q.destroys, q.untrusted,
				q.diff.includes('-one') && q.diff.includes('+two'), q.unified, q.answers, q.patterns, q.input, q.needs.length, q.session === s.id, q.reason !== '', q.description !== '', asked[1]]`,
			`[true,"two\n","one\n",true,"edit","edit a.txt; what is read is sent to the model chat/scripted and edit a.txt",[{"needs":[{"capability":"fs.read","op":"","subject":"a.txt","tree":false,"destroys":false}],"text":"edit a.txt; what is read is sent to the model chat/scripted","risk":"medium","destroys":false,"inTitle":true},{"inTitle":true,"needs":[{"capability":"fs.write","op":"write","subject":"a.txt","tree":false,"destroys":false}],"text":"edit a.txt","risk":"medium","destroys":false}],"medium",false,false,true,true,["once","session","project","reject","never"],["a.txt"],{"path":"a.txt","old_string":"one","new_string":"two"},2,true,true,true,true]`},
		{"no ask refuses", `const folder = await bailey.folder.memory(); const s = await (await box({folder})).session(); const c = await all(s, {calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'so'});
			return [c.filter((x) => x.type.startsWith('tool-output')).map((x) => x.type), await failed(folder.text('a.txt')).then((x) => x.split(':')[0])]`, `[["tool-output-error"],"NotFoundError"]`},
		{"an answer for the session is asked once", `let asked = 0; const folder = await bailey.folder.memory(); const s = await (await box({folder, ask: (q) => { asked++; return {answer: 'session', pattern: '**'}; }})).session();
			await all(s, {calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {calls: [{tool: 'write', args: {path: 'b.txt', content: 'x'}}]}, {text: 'so'}); const first = asked; await s.forget();
			await all(s, {calls: [{tool: 'write', args: {path: 'c.txt', content: 'x'}}]}, {text: 'so'}); return [first, asked, (await folder.list()).length]`, `[1,2,3]`},
		{"a reason of a rejection reaches the model", `const folder = await bailey.folder.memory(); const s = await (await box({folder, ask: () => ({answer: 'reject', reason: 'not on a Sunday'})})).session();
			const c = await all(s, {calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {echo: true}); return [types(c).includes('tool-output-denied'), text(c).includes('not on a Sunday')]`, `[true,true]`},
		{"a rule to remember", `const rules = [], folder = await bailey.folder.memory(); const s = await (await box({folder, ask: () => 'never', remember: (r) => { rules.push(r); }})).session();
			await all(s, {calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'so'}); return rules.map((r) => [r.permission, r.action, r.capability, r.pattern])`, `[["write","deny","fs.write","a.txt"]]`},
		{"effects of a tool are decided", `const asked = []; const tool = {parameters: {type: 'object', properties: {to: {type: 'string'}}}, requires: ['net.fetch'], effects: ({to}) => [{capability: 'net.fetch', subject: to, words: 'send the report to ' + to}],
				preview: ({to}) => ({title: 'send a report', diff: 'report for ' + to}), run: () => 'sent'};
			const b = await box({tools: {report: tool}, policy: {capabilities: {'net.fetch': ['a.example', 'b.example'], 'stream.send': true}, rules: [{permission: 'net.fetch', pattern: 'a.example', action: 'allow'}]}, ask: (q) => { asked.push([q.title, q.diff]); return 'reject'; }});
			const c = await all(await b.session(), {calls: [{tool: 'report', args: {to: 'a.example'}}, {tool: 'report', args: {to: 'b.example'}}, {tool: 'report', args: {to: 'c.example'}}]}, {text: 'so'});
			return [c.filter((x) => x.type.startsWith('tool-output')).map((x) => x.type).sort(), asked, (await b.explain('report', {to: 'c.example'})).decision]`,
			`[["tool-output-available","tool-output-denied","tool-output-error"],[["send a report, and send the report to b.example","report for b.example"]],"deny"]`},
		{"the folder of a call ends at its effects", `const folder = await bailey.folder.memory(); await folder.write('a.txt', 'A'); await folder.write('b.txt', 'B'); let later;
			const tool = {effects: [{capability: 'fs.read', subject: 'a.txt'}], run: async (args, {folder}) => { later = folder; return [await folder.text('a.txt'), await failed(folder.text('b.txt')).then((x) => x.split(':')[0]), await failed(folder.write('a.txt', 'x')).then((x) => x.split(':')[0])]; }};
			const b = await box({folder, tools: {peek: tool}}); return [await b.call('peek'), await failed(later.text('a.txt')).then((x) => x.includes('closed')), await folder.text('a.txt')]`, `[["A","SECURITY_VIOLATION","SECURITY_VIOLATION"],true,"A"]`},
		{"a file of a message", `const png = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='), (c) => c.charCodeAt(0));
			const s = await (await box({})).session(), c = []; for await (const x of s.send({text: turns({echo: true}), files: [new File([png], 'dot.png', {type: 'image/png'})]})) c.push(x);
			const m = await s.messages(); return [text(c).includes('data:image/png;base64,iVBORw0KGgo'), m.map((x) => x.role), m[0].parts[0].type, m[0].parts[0].filename, m[0].parts[0].url.slice(0, 22), m[1].parts.map((x) => x.type), m[1].metadata]`,
			`[true,["user","assistant"],"file","dot.png","data:image/png;base64,",["step-start","text"],{"usage":{"input":10,"output":5}}]`},
		{"a file of a result", `const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
			const b = await box({tools: {shot: {run: async (args, {addFile}) => { await addFile({filename: 'shot.png', url: png}); return await failed(addFile({name: 'x', data: new Uint8Array()})).then((x) => x.includes('empty')); }}}}); const c = await all(await b.session(), {calls: [{tool: 'shot', args: {}}]}, {text: 'seen'});
			return of(c, 'tool-output-available').output`, `true`},
		{"messages have the calls", `const s = await (await box({folder: await bailey.folder.memory(), ask: () => 'reject', tools: {one: {run: () => 1}, bad: {run: () => { throw new Error('no paper'); }}}})).session();
			await all(s, {calls: [{tool: 'one', args: {}}, {tool: 'bad', args: {}}, {tool: 'write', args: {path: 'a', content: ''}}]}, {text: 'so'}); const [, m] = await s.messages();
			return m.parts.map((p) => [p.type, p.state, p.output, p.errorText?.includes('no paper'), p.approval?.approved])`,
			`[["step-start",null,null,null,null],["tool-one","output-available",1,null,null],["tool-bad","output-error",null,true,null],["tool-write","output-denied",null,null,false],["step-start",null,null,null,null],["text","done",null,null,null]]`},
		{"a break stops the run", `const s = await (await box({})).session(); for await (const c of s.send(turns({text: 'a', hold: true}))) if (c.type === 'text-delta') break; const c = await all(s, {text: 'free'}); return text(c)`, `"free"`},
		{"stop", `const s = await (await box({})).session(), c = []; for await (const x of s.send(turns({text: 'a', hold: true}))) { c.push(x); if (x.type === 'text-delta') await s.stop('enough'); } return [types(c.slice(-2)), c.at(-1).reason.includes('enough')]`, `["data-stopped abort",true]`},
		{"a signal", `const s = await (await box({})).session(), c = [], a = new AbortController(); for await (const x of s.send(turns({text: 'a', hold: true}), {signal: a.signal})) { c.push(x); if (x.type === 'text-delta') a.abort('any reason'); }
			const before = (await s.messages()).length; const late = await failed(s.send('x', {signal: a.signal}).next()); return [c.at(-1).type, late.split(':')[0], (await s.messages()).length - before]`, `["abort","AbortError",0]`},
		{"one answer at a time", `const s = await (await box({})).session(); const one = s.send(turns({text: 'a', hold: true})); await one.next(); const n = (await s.messages()).length; const two = await failed(s.send('x').next()); await one.return(); return [two.split(':')[0], (await s.messages()).filter((m) => m.role === 'user').length]`, `["SESSION_ERROR",1]`},
		{"an error of the provider", `const s = await (await box({})).session(), c = []; try { for await (const x of s.send(turns({status: 400, text: 'no such model'}))) c.push(x); } catch (e) { return [c.at(-1).type, e.name, e.message.includes('no such model'), e.message.includes('test-key')]; }`, `["error","EXECUTION_ERROR",true,false]`},
		{"a policy without stream.send", `const s = await (await box({policy: {}})).session(); let last; const said = await failed((async () => { for await (const c of s.send('x')) last = c; })()); return [last.type, said.includes('CAPABILITY_DENIED') && said.includes('stream.send')]`, `["error",true]`},
		{"it goes on after an error", `const s = await (await box({})).session(); await failed(all(s, {status: 400, text: 'x'})); await s.rewind((await s.messages())[0].id); return [(await s.messages()).length, text(await all(s, {echo: true}))]`, `[0,"1 messages, files []"]`},
		{"steer", `const s = await (await box({})).session(); let said = ''; for await (const c of s.send(turns({text: 'a', calls: [{tool: 'todo', args: {todos: []}}]}, {text: 'never'}))) { if (c.type === 'text-delta' && !said) { said = 'x'; await s.steer(turns({text: 'steered'})); } if (c.type === 'text-delta') said = c.delta; } return said`, `"steered"`},
		{"rewind with files", `const folder = await bailey.folder.memory(); await folder.write('a.txt', 'one'); const s = await (await box({folder, ask: () => 'once'})).session();
			await all(s, {text: 'first'}); await all(s, {calls: [{tool: 'write', args: {path: 'b.txt', content: 'x'}}]}, {text: 'so'}); const m = await s.messages(); await s.rewind(m[2].id, {files: true}); return [m.length, (await s.messages()).length, (await folder.list()).map((e) => e.name)]`, `[4,2,["a.txt"]]`},
		{"sessions are stored", `const name = 'npm ' + Math.random(); const one = await box({store: name}); const s = await one.session(); await all(s, {text: 'kept'}); await s.rename('mine'); const f = await s.fork(); const busy = await failed(one.session(s.id)); await one.close();
			const two = await box({store: name}); const list = await two.sessions(), again = await two.session(s.id); const m = await again.messages(), copy = await two.importSession(await again.export());
			const locked = await failed(two.removeSession(again.id)); await again.close(); await two.removeSession(again.id);
			return [busy.split(':')[0], list.map((x) => [x.title, x.id === s.id || x.parent === s.id]).sort(), m.length, (await copy.messages()).length, locked.split(':')[0], (await two.sessions()).length, await failed(two.session('nobody')).then((x) => x.split(':')[0])]`,
			`["SESSION_ERROR",[["mine",true],["mine",true]],2,2,"SESSION_ERROR",2,"NotFoundError"]`},
		{"what belongs to a closed box is closed", `const b = await box({}); const s = await b.session(); const g = s.send(turns({text: 'a', hold: true})); await g.next(); const rest = (async () => { const out = []; for await (const c of g) out.push(c.type); return out; })(); await b.close();
			await failed(rest); return [await failed(s.messages()), await failed(b.sessions()), await failed(s.send('x').next())]`, `["Error: messages(): this is closed","Error: sessions(): this is closed","Error: send(): this is closed"]`},
		{"questions of the model", `const got = []; const s = await (await box({answer: (q) => { got.push(q); return [['blue']]; }})).session(); const c = await all(s, {calls: [{tool: 'question', args: {questions: [{question: 'Which?', header: 'Colour', options: [{label: 'blue', description: 'sky'}]}]}}]}, {echo: true});
			return [got, text(c).includes('blue')]`, `[[[{"header":"Colour","multiSelect":false,"options":[{"description":"sky","label":"blue"}],"question":"Which?"}]],true]`},
		{"TypeScript", `const s = await bailey.run('interface A {\n  a: number\n}\nenum E { X = 4 }\nconst f = <T,>(x: T): T => x\nreturn f<number>((args as A).a + E.X)!', {args: {a: 1}, language: 'typescript'});
			const thrown = await bailey.run('type A = {\n  a: number\n}\nthrow new Error("here")', {language: 'typescript'}), wrong = await bailey.run('let a: number = 1\n\nlet b: = 2', {language: 'typescript'}), javascript = await bailey.run('let a: number = 1');
			return [s.value, /:4:/.test(thrown.error.stack), wrong.error.code, wrong.error.name, /line 3/.test(wrong.error.message), javascript.error.name, await failed(bailey.run('', {language: 'go'})), performance.getEntriesByType('resource').filter((e) => /typescript/.test(e.name)).length]`,
			`[5,true,"INVALID_PARAMS","SyntaxError",true,"SyntaxError","Error: run(code, options): language: must be \"javascript\" or \"typescript\"",1]`},
		{"TypeScript of a model", `const b = await box({code: true, tools: {twice: {parameters: {type: 'object', properties: {n: {type: 'number'}}, required: ['n'], additionalProperties: false}, run: ({n}) => 2 * n}},
				policy: {capabilities: {'code.run': true, 'stream.send': true}, rules: [{permission: 'code.run', action: 'allow'}, {permission: 'twice', action: 'allow'}]}});
			const run = async (args) => { const c = await all(await b.session(), {calls: [{tool: 'code_run', args}]}, {text: 'so'}); return of(c, 'tool-output-available').output; };
			const typed = await run({language: 'typescript', code: 'interface Row { n: number }\nconst r: Row = await callTool("twice", {n: 21}) as any\nreturn r as unknown as number'});
			const retried = await run({code: 'type A = {\n  a: number\n}\nconst a: A = null as any\nreturn a.a'}), space = 'namespace N { export const a = 1 }\nreturn N.a';
			const javascript = await run({code: space}), namespace = await run({language: 'typescript', code: space}), compared = await run({code: 'return (x => x) <1> (2)'}); await b.close();
			return [typed.language, typed.value, retried.language, /^TypeError/.test(retried.error), /:5:/.test(retried.stack), /^SyntaxError: Unexpected/.test(javascript.error), /namespace .*line 1/.test(namespace.error), compared.language ?? '', compared.value]`,
			`["typescript",42,"typescript",true,true,true,true,"",false]`},
		{"code", `const b = await box({code: true, policy: {capabilities: {'code.run': true, 'stream.send': true}, rules: [{permission: 'code.run', action: 'allow'}]}}); const c = await all(await b.session(), {calls: [{tool: 'code_run', args: {code: 'return 6 * 7'}}]}, {echo: true}); await b.close(); return text(c).includes('42')`, `true`},
		{"a shell", `const folder = await bailey.folder.memory(); await folder.write('a.txt', 'b\na\n'); const b = await box({folder, shell: true, policy: {capabilities: {'fs.read': ['.'], 'shell.run': ['*'], 'stream.send': true}, rules: [{permission: 'fs.read', action: 'allow'}, {permission: 'shell.run', action: 'allow'}]}}); return (await b.call('bash', {command: 'sort a.txt | head -n 1'})).output`, `"a\n"`},
		{"tools that are there", `const b = await box({web: true, standard: false, policy: {capabilities: {'net.fetch': ['a.example']}}, tools: {mine: {run: () => 1}}}); const list = await b.tools(); return list.filter((t) => t.available).map((t) => t.name)`, `["mine","web_fetch"]`},
		{"the other version's chunks", `const folder = await bailey.folder.memory(); const s = await (await box({folder, ask: () => 'reject'})).session(), c = []; for await (const x of s.send(turns({calls: [{tool: 'write', args: {path: 'a', content: ''}}]}, {text: 'so'}), {version: 6})) c.push(x); return types(c.filter((x) => x.type.startsWith('data-') || x.type.startsWith('tool-output')))`, `"data-approval data-approval tool-output-error"`},
		{"the rules without a model", `const s = await (await bailey.box({model: {provider: 'commands'}})).session(); let t = ''; for await (const c of s.send('hello')) if (c.type === 'text-delta') t += c.delta; return t.length > 10`, `true`},
	})
	if t.Failed() {
		t.Logf("console: %q", console())
	}
}

// A tool, an answer or an option of the page that is wrong fails one call, or refuses one question. After each of them the program goes on.
func TestAgentSurvivesItsPage(t *testing.T) {
	p, console := kit(t, bareAgent(t), "")
	const tool = `const use = async (run, more) => { const b = await box({model: {...model, context: 1000000}, standard: false, tools: {bad: {run, ...more}}}); const c = await all(await b.session(), {calls: [{tool: 'bad', args: {}}]}, {text: 'went on'}); await b.close();
		return [(of(c, 'tool-output-error') ?? of(c, 'tool-output-available')).errorText ?? of(c, 'tool-output-available').output, text(c)]; };
		const hostile = (run, part, more) => use(run, more).then(([got, rest]) => [typeof got === 'string' && got.includes(part) ? 'failed' : got, rest]);`
	const ask = `const refused = async (ask) => { const folder = await bailey.folder.memory(); const b = await box({folder, ask}); const c = await all(await b.session(), {calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'went on'});
		return [c.some((x) => x.type === 'tool-output-denied'), (await folder.list()).length, text(c)]; };`
	const denied = `[true,0,"went on"]`
	const failed = `["failed","went on"]`
	list := []row{
		{"a tool throws", tool + `return hostile(() => { throw new Error('no paper'); }, 'no paper')`, failed},
		{"a tool rejects", tool + `return hostile(async () => { throw new Error('no paper'); }, 'no paper')`, failed},
		{"a tool throws no error", tool + `return hostile(() => { throw null; }, '')`, failed},
		{"a tool throws a trap", tool + `return hostile(() => { throw {get message() { throw new Error('trap'); }, toString() { throw new Error('trap'); }}; }, '')`, failed},
		{"a tool throws a proxy", tool + `return hostile(() => { throw new Proxy({}, {get() { throw new Error('trap'); }, getPrototypeOf() { throw new Error('trap'); }}); }, '')`, failed},
		{"a tool never settles", tool + `let aborted = false; const r = await hostile((args, {signal}) => { signal.addEventListener('abort', () => { aborted = true; }); return new Promise(() => {}); }, '', {time: 50}); return [...r, aborted]`, `["failed","went on",true]`},
		{"a tool never settles, and is stopped", `const b = await box({tools: {bad: {run: () => new Promise(() => {}), time: 300000}}}); const s = await b.session(), c = []; for await (const x of s.send(turns({calls: [{tool: 'bad', args: {}}]}))) { c.push(x); if (x.type === 'tool-input-available') queueMicrotask(() => s.stop()); } return [c.at(-1).type, await b.close() ?? 'closed']`, `["abort","closed"]`},
		{"a tool's call is stopped alone", `const s = await (await box({tools: {bad: {run: () => new Promise(() => {}), time: 300000}}})).session(), c = []; for await (const x of s.send(turns({calls: [{tool: 'bad', args: {}}]}, {text: 'went on'}))) { c.push(x); if (x.type === 'tool-input-available') (async () => { while (!await s.stopCall(x.toolCallId)) await new Promise((r) => setTimeout(r)); })(); } return text(c)`, `"went on"`},
		{"a thenable that never settles", tool + `return hostile(() => ({then() {}}), '', {time: 50})`, failed},
		{"a thenable that throws", tool + `return hostile(() => ({then() { throw new Error('trap'); }}), 'trap')`, failed},
		{"a thenable in itself", tool + `return hostile(() => { const p = Promise.resolve().then(() => p); return p; }, '')`, failed},
		{"a result that is no JSON: bigint", tool + `return hostile(() => ({a: 1n}), 'JSON')`, failed},
		{"a result that is no JSON: circle", tool + `return hostile(() => { const a = {}; a.a = a; return a; }, 'JSON')`, failed},
		{"a result that is no JSON: function", tool + `return hostile(() => () => 1, 'JSON')`, failed},
		{"a result that is no JSON: symbol", tool + `return hostile(() => Symbol('x'), 'JSON')`, failed},
		{"a result with a getter that throws", tool + `return hostile(() => ({get a() { throw new Error('trap'); }}), 'trap')`, failed},
		{"a result whose toJSON throws", tool + `return hostile(() => ({toJSON() { throw new Error('trap'); }}), 'trap')`, failed},
		{"a proxy as a result", tool + `return hostile(() => new Proxy({}, {ownKeys() { throw new Error('trap'); }}), 'trap')`, failed},
		{"bytes as a result", tool + `return hostile(() => new Uint8Array(3), 'addFile')`, failed},
		{"a result that is too deep", tool + `return hostile(() => { let a = []; for (let i = 0; i < 5000; i++) a = [a]; return a; }, '')`, failed},
		{"a result that is too long", tool + `return hostile(() => 'x'.repeat(20 << 20), 'long')`, failed},
		{"a result that is far too long", tool + `return hostile(() => ['x'.repeat(1 << 28), 'x'.repeat(1 << 28)], '')`, failed},
		{"a long result is cut for the model", `const got = []; for (const r of ['x'.repeat(1 << 20), {content: 'x'.repeat(1 << 20), n: 1}]) { const b = await box({model: {...model, context: 1000000}, tools: {long: {run: () => r}}}); const c = await all(await b.session(), {calls: [{tool: 'long', args: {}}]}, {echo: true}); got.push(text(c).length > 204000 && text(c).length < 206000); } return got`, `[true,true]`},
		{"a long result that can't be cut", tool + `return hostile(() => ({a: 'x'.repeat(1 << 20)}), 'as the member content')`, failed},
		{"keys that are none", tool + `return hostile(() => JSON.parse('{"__proto__": 1}'), '')`, failed},
		{"no result", tool + `return use(() => {})`, `[null,"went on"]`},
		{"half a surrogate pair", tool + `return (await use(() => '\ud800'))[1]`, `"went on"`},
		{"a file that is none", tool + `return hostile((args, {addFile}) => addFile({url: 'https://example.org/a.png'}), 'data:')`, failed},
		{"a file with a getter that throws", tool + `return hostile((args, {addFile}) => addFile({get data() { throw new Error('trap'); }}), 'trap')`, failed},
		{"effects that are none", tool + `return hostile(() => 1, 'effects', {requires: ['net.fetch'], effects: () => 'net.fetch'})`, failed},
		{"effects that throw", tool + `return hostile(() => 1, 'trap', {requires: ['net.fetch'], effects: () => { throw new Error('trap'); }})`, failed},
		{"effects that were not required", `let ran = 0; const b = await box({policy: {capabilities: {'fs.read': ['.'], 'net.fetch': ['a.example'], 'stream.send': true}, rules: [{permission: 'fs.read', action: 'allow'}, {permission: 'net.fetch', action: 'allow'}]}, tools: {bad: {requires: ['net.fetch'], effects: () => [{capability: 'fs.read', subject: 'a'}], run: () => { ran++; }}}}); const said = await failed(b.call('bad')); return [ran, said.includes('not granted')]`, `[0,true]`},
		{"a preview that throws is told", `const asked = []; const b = await box({policy: {capabilities: {'net.fetch': ['a.example'], 'stream.send': true}}, ask: (q) => { asked.push(q.diff); return 'reject'; }, tools: {bad: {effects: [{capability: 'net.fetch', subject: 'a.example'}], preview: () => { throw new Error('trap'); }, run: () => 1}}}); await failed(b.call('bad')); return asked[0].includes("can't be shown")`, `true`},

		{"ask throws", ask + `return refused(() => { throw new Error('trap'); })`, denied},
		{"ask rejects", ask + `return refused(async () => { throw new Error('trap'); })`, denied},
		{"ask returns nothing", ask + `return refused(() => {})`, denied},
		{"ask returns true", ask + `return refused(() => true)`, denied},
		{"ask returns another word", ask + `return refused(() => 'yes')`, denied},
		{"ask returns a String", ask + `return refused(() => new String('once'))`, denied},
		{"ask returns a list", ask + `return refused(() => ['once'])`, denied},
		{"ask returns the question", ask + `return refused((q) => q)`, denied},
		{"ask returns an object without an answer", ask + `return refused(() => ({pattern: '**'}))`, denied},
		{"ask returns an answer that is no text", ask + `return refused(() => ({answer: {toString: () => 'once'}}))`, denied},
		{"ask returns a getter that throws", ask + `return refused(() => ({get answer() { throw new Error('trap'); }}))`, denied},
		{"ask returns a yes with a pattern that throws", ask + `return refused(() => ({answer: 'once', get pattern() { throw new Error('trap'); }}))`, denied},
		{"ask returns a yes with a pattern that is no text", ask + `return refused(() => ({answer: 'session', pattern: 1}))`, denied},
		{"ask returns a proxy", ask + `return refused(() => new Proxy({}, {get() { throw new Error('trap'); }}))`, denied},
		{"ask changes the question", ask + `return refused((q) => { q.answers = []; q.tool = 'read'; q.needs.length = 0; return 'reject'; })`, denied},
		{"ask never settles, and the answer is stopped", `const folder = await bailey.folder.memory(); let aborted = false; const b = await box({folder, ask: (q, {signal}) => new Promise(() => { signal.addEventListener('abort', () => { aborted = true; }); })}); const s = await b.session(), c = [];
			for await (const x of s.send(turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}))) { c.push(x); if (x.type === 'tool-approval-request') queueMicrotask(() => s.stop()); } return [c.at(-1).type, (await folder.list()).length, aborted, text(await all(s, {text: 'went on'}))]`, `["abort",0,true,"went on"]`},
		{"a late yes after stop", `const folder = await bailey.folder.memory(); let yes; const b = await box({folder, ask: () => new Promise((r) => { yes = r; })}); const s = await b.session();
			for await (const x of s.send(turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}))) if (x.type === 'tool-approval-request') queueMicrotask(async () => { await s.stop(); yes('once'); }); await all(s, {text: 'on'}); return (await folder.list()).length`, `0`},
		{"one question at a time", `const folder = await bailey.folder.memory(); let now = 0, most = 0; const b = await box({folder, ask: async () => { most = Math.max(most, ++now); await new Promise((r) => setTimeout(r)); now--; return 'once'; }}); await all(await b.session(), {calls: [1, 2, 3].map((n) => ({tool: 'write', args: {path: n + '.txt', content: 'x'}}))}, {text: 'so'}); return [most, (await folder.list()).length]`, `[1,3]`},
		{"the model's question is answered with garbage", `const s = await (await box({answer: () => [[{}]]})).session(); const c = await all(s, {calls: [{tool: 'question', args: {questions: [{question: 'Which?'}]}}]}, {text: 'went on'}); return [of(c, 'tool-output-error') !== undefined, text(c)]`, `[true,"went on"]`},
		{"onProgress and remember throw", `const folder = await bailey.folder.memory(); const s = await (await box({folder, ask: () => 'project', onProgress: () => { throw new Error('trap'); }, remember: () => { throw new Error('trap'); }})).session(); const c = await all(s, {calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'went on'}); return [(await folder.list()).length, text(c)]`, `[1,"went on"]`},
	}
	for name, c := range map[string][2]string{
		"no options":                             {`undefined`, `options are missing`},
		"options that are none":                  {`'x'`, `options are missing`},
		"no model":                               {`{}`, `model is missing`},
		"a model without a provider":             {`{model: {name: 'x'}}`, `provider`},
		"an unknown provider":                    {`{model: {provider: 'acme', name: 'x'}}`, `must be anthropic`},
		"a model without a name":                 {`{model: {provider: 'openai', key: 'secret-key'}}`, `name: is missing`},
		"an option of the model that is none":    {`{model: {provider: 'openai', name: 'x', apiKey: 'secret-key'}}`, `apiKey: there is no such option`},
		"a key for a model without a server":     {`{model: {provider: 'commands', key: 'secret-key'}}`, `no such option`},
		"an option that is none":                 {`{model, onAsk: () => 'once'}`, `onAsk: there is no such option`},
		"a policy that is no JSON":               {`{model, policy: '{'}`, `policy`},
		"a policy with an unknown key":           {`{model, policy: {capabilites: {}}}`, `capabilites`},
		"a policy in a circle":                   {`(() => { const policy = {}; policy.a = policy; return {model, policy}; })()`, `policy`},
		"a policy with a getter that throws":     {`{model, policy: {get rules() { throw new Error('trap'); }}}`, `trap`},
		"options with a getter that throws":      {`{model, get policy() { throw new Error('trap'); }}`, `trap`},
		"a folder that is none":                  {`{model, folder: {}}`, `must be an open folder`},
		"a closed folder":                        {`{model, folder: await (async () => { const f = await bailey.folder.memory(); await f.close(); return f; })()}`, `must be an open folder`},
		"ask that is no function":                {`{model, ask: true}`, `ask: must be a function`},
		"a tool without run":                     {`{model, tools: {bad: {}}}`, `tools: bad: run is missing`},
		"a tool whose run is a text":             {`{model, tools: {bad: {run: 'return 1'}}}`, `must be a function`},
		"a tool with a wrong schema":             {`{model, tools: {bad: {run() {}, parameters: {type: 'nothing'}}}}`, `bad`},
		"a tool with a schema that throws":       {`{model, tools: {bad: {run() {}, parameters: {get type() { throw new Error('trap'); }}}}}`, `trap`},
		"a tool with a wrong name":               {`{model, tools: {'a b': {run() {}}}}`, `a b`},
		"a tool with the name of a standard one": {`{model, tools: {write: {run() {}}}}`, `write`},
		"a tool with an unknown capability":      {`{model, tools: {bad: {run() {}, effects: [{capability: 'net.fly'}]}}}`, `net.fly`},
		"a tool with an effect that is none":     {`{model, tools: {bad: {run() {}, effects: ['net.fetch']}}}`, `effect 0`},
		"a tool with effects without requires":   {`{model, tools: {bad: {run() {}, effects: () => []}}}`, `requires is missing`},
		"a tool with a time that is none":        {`{model, tools: {bad: {run() {}, time: 1e9}}}`, `milliseconds`},
		"a tool with an option that is none":     {`{model, tools: {bad: {run() {}, needs: []}}}`, `needs: there is no such option`},
	} {
		list = append(list, row{"an error at once: " + name, `const said = await failed(bailey.box(` + c[0] + `)); return said.includes(` + fmt.Sprintf("%q", c[1]) + `) && !said.includes('secret-key') ? true : said`, `true`})
	}
	for name, c := range map[string][2]string{
		"a message that is none":       {`s.send({txt: 'x'})`, `no such option`},
		"a message with a trap":        {`s.send({get text() { throw new Error('trap'); }})`, `trap`},
		"files that are none":          {`s.send({text: 'x', files: [{data: 'x'}]})`, `data`},
		"a file with an address":       {`s.send({parts: [{type: 'file', url: 'https://example.org/'}]})`, `data: or a blob:`},
		"an empty file":                {`s.send({files: [{data: new Uint8Array()}]})`, `empty`},
		"a wrong image":                {`s.send({files: [{mediaType: 'image/png', data: new Uint8Array([1, 2])}]})`, `image`},
		"a signal that is none":        {`s.send('x', {signal: {}})`, `AbortSignal`},
		"a version that is none":       {`s.send('x', {version: 5})`, `6 or 7`},
		"an option that is none":       {`s.send('x', {abortSignal: 1})`, `no such option`},
		"a steering without a message": {`{next: () => s.steer()}`, `message is missing`},
		"a rewind to nothing":          {`{next: () => s.rewind('nobody')}`, `nobody`},
		"a call of nothing":            {`{next: () => b.call('nobody')}`, `nobody`},
	} {
		list = append(list, row{"an error of one call: " + name, `const b = await box({}), s = await b.session(); const said = await failed((async () => (await ` + c[0] + `).next())()); return said.includes(` + fmt.Sprintf("%q", c[1]) + `) && (await s.messages()).length === 0 ? true : said`, `true`})
	}
	rows(t, p, list)
	if t.Failed() {
		t.Logf("console: %q", console())
	}
}

// quote returns a text as a literal of JavaScript.
func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// conversation is a row with a tool, a question and a folder, on a page that has the element.
var conversation = row{"a conversation", `const folder = await bailey.folder.memory(); const s = await (await box({folder, tools: {name: {run: () => 'a.txt'}}, ask: (q) => q.tool === 'write' ? 'once' : 'reject'})).session();
				const c = await all(s, {calls: [{tool: 'name', args: {}}]}, {calls: [{tool: 'write', args: {path: 'a.txt', content: 'new'}}]}, {text: 'done'}); return [text(c), await folder.text('a.txt'), typeof transport(s).sendMessages, document.createElement('bailey-consent').whose]`, `["done","new","function",null]`}

// A page without a bundler has a box in each way of hosting.
func TestAgentHosting(t *testing.T) {
	dir := bareAgent(t)
	for i, h := range hostings {
		t.Run(h.name, func(t *testing.T) {
			if testing.Short() && i < len(hostings)-1 {
				t.Skip("long: make npm")
			}
			p, _ := kitAt(t, dir, h)
			rows(t, p, []row{conversation})
		})
	}
}

// A production build of each bundler has the program of bailey/agent, and a conversation with a tool and a question in it.
func TestAgentBundlers(t *testing.T) {
	const app = "import { load, transport } from 'bailey/agent';\nimport { kit } from './kit.mjs';\n\nkit(load, transport);\n"
	const named = "import { load, transport } from 'bailey/agent';\nimport wasm from 'bailey/agent.wasm';\nimport { kit } from './kit.mjs';\n\nkit((options) => load({ ...options, wasm: new URL(wasm, import.meta.url) }), transport);\n"
	for _, c := range []struct {
		name  string
		build []string
		app   string
	}{
		{"vite", []string{"node", "../../node_modules/vite/bin/vite.js", "build", "--base=./"}, app},
		{"webpack", []string{"node", "build.mjs"}, app},
		{"esbuild", []string{"node", "build.mjs"}, named},
		{"rollup", []string{"node", "build.mjs"}, app},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := install(t, c.name)
			must(t, os.WriteFile(filepath.Join(dir, "app.mjs"), []byte(c.app), 0o644))
			_, err := command(testContext(t), dir, c.build...)
			must(t, err)
			for _, h := range hostings {
				t.Run(h.name, func(t *testing.T) {
					p, _ := kitAt(t, filepath.Join(dir, "dist"), h)
					rows(t, p, []row{conversation})
				})
			}
		})
	}
}
