package npmtest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// chatPage opens a production build of a page with useChat of AI SDK, under the strict policy.
func chatPage(t *testing.T) (browser.Page, func() []string) {
	t.Helper()
	dir := install(t, "chat")
	_, err := command(testContext(t), dir, "node", "../../node_modules/vite/bin/vite.js", "build", "--base=./")
	must(t, err)
	return kit(t, filepath.Join(dir, "dist"), "")
}

// The chats of both versions of AI SDK take the stream, and their messages are right.
func TestTransport(t *testing.T) {
	p, console := chatPage(t)
	// open makes a chat whose box has options, and waits until its state is as wanted.
	const open = `const open = async (options, more) => { const b = await box(options), session = await b.session(); const errors = [], chat = new globalThis.kit.chats[version]({id: 'chat-1', transport: transport(session, {version, ...more}), onError: (e) => errors.push(e.message), ...more?.init}); return {b, session, chat, errors}; };
		const parts = (m) => m.parts.filter((p) => p.type !== 'step-start').map((p) => p.type === 'text' ? p.text : p.state ? p.type + ' ' + p.state : p.type);
		const until = async (done) => { while (!done()) await new Promise((r) => setTimeout(r, 5)); };
		const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';`
	for _, version := range []string{"6", "7"} {
		list := []row{
			{"a text", `const {chat, session} = await open({}); await chat.sendMessage({text: turns({text: 'Hello'})}); const stored = await session.messages(); return [chat.status, chat.messages.map((m) => m.role), parts(chat.messages[1]), chat.messages[1].id === stored[1].id, chat.messages[1].metadata.usage.input]`,
				`["ready",["user","assistant"],["Hello"],true,10]`},
			{"a conversation", `const {chat} = await open({}); await chat.sendMessage({text: turns({text: 'one'})}); await chat.sendMessage({text: turns({echo: true})}); return [chat.messages.length, parts(chat.messages[3])]`, `[4,["3 messages, files []"]]`},
			{"a tool, and one that fails", `const {chat} = await open({tools: {good: {run: () => ({n: 1})}, bad: {run: () => { throw new Error('no paper'); }}}}); await chat.sendMessage({text: turns({calls: [{tool: 'good', args: {}}, {tool: 'bad', args: {}}]}, {text: 'so'})});
				const m = chat.messages[1]; return [parts(m), m.parts.find((p) => p.type === 'tool-good').output, m.parts.find((p) => p.type === 'tool-bad').errorText.includes('no paper')]`, `[["tool-good output-available","tool-bad output-error","so"],{"n":1},true]`},
			{"an approval", `const folder = await bailey.folder.memory(), seen = []; let chat; const ask = async (q) => { await until(() => chat.messages.at(-1).parts.some((p) => p.toolCallId === q.toolCallId)); const p = chat.messages.at(-1).parts.find((p) => p.toolCallId === q.toolCallId); seen.push(p.state); return 'once'; };
				({chat} = await open({folder, ask})); await chat.sendMessage({text: turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'so'})}); return [seen.length, parts(chat.messages[1]).filter((x) => !x.startsWith('data-')), await folder.text('a.txt')]`, `[1,["tool-write output-available","so"],"x"]`},
			{"files", `const {chat, session} = await open({}); await chat.sendMessage({text: turns({echo: true}), files: [{type: 'file', mediaType: 'image/png', filename: 'dot.png', url: png}]}); const [m] = await session.messages(); return [parts(chat.messages[1])[0].includes(png), m.parts[0].url === png, m.parts[0].filename]`, `[true,true,"dot.png"]`},
			{"stop", `const {chat, session} = await open({}); const sent = chat.sendMessage({text: turns({text: 'half', hold: true})}); await until(() => chat.messages[1]?.parts.some((p) => p.text)); await chat.stop(); await sent; const half = [chat.status, parts(chat.messages[1])];
				await chat.sendMessage({text: turns({text: 'went on'})}); return [half, parts(chat.messages[3]), (await session.messages()).length]`, `[["ready",["half"]],["went on"],4]`},
			{"stop during a question", `const folder = await bailey.folder.memory(); let asked, aborted = false; const {chat} = await open({folder, ask: (q, {signal}) => new Promise(() => { asked = true; signal.addEventListener('abort', () => { aborted = true; }); })}); const sent = chat.sendMessage({text: turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]})});
				await until(() => asked); await chat.stop(); await sent; await until(() => aborted); await chat.sendMessage({text: turns({text: 'went on'})}); return [(await folder.list()).length, parts(chat.messages.at(-1))]`, `[0,["went on"]]`},
			{"regenerate", `let n = 0; const {chat, session} = await open({tools: {count: {run: () => ++n}}}); await chat.sendMessage({text: turns({text: 'before'})}); await chat.sendMessage({text: turns({calls: [{tool: 'count', args: {}}]}, {echo: true})}); const first = parts(chat.messages[3]).at(-1);
				await chat.regenerate(); const second = parts(chat.messages[3]).at(-1); await chat.regenerate({messageId: chat.messages[3].id}); const s = await session.messages(); return [first.includes('1'), second.includes('2'), parts(chat.messages[3]).at(-1).includes('3'), chat.messages.length, s.map((m) => m.role), s[3].id === chat.messages[3].id]`,
				`[true,true,true,4,["user","assistant","user","assistant"],true]`},
			{"an edited message", `const {chat, session} = await open({}); await chat.sendMessage({text: turns({text: 'one'})}); await chat.sendMessage({text: turns({text: 'two'})}); await chat.sendMessage({text: turns({echo: true}), messageId: chat.messages[0].id}); return [chat.messages.length, parts(chat.messages[1]), (await session.messages()).length]`, `[2,["1 messages, files []"],2]`},
			{"an edit with files rewinds the folder", `const folder = await bailey.folder.memory(); const {chat} = await open({folder, ask: () => 'once'}, {rewindFiles: true}); await chat.sendMessage({text: turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'so'})}); const had = (await folder.list()).length;
				await chat.sendMessage({text: turns({text: 'never mind'}), messageId: chat.messages[0].id}); return [had, (await folder.list()).length]`, `[1,0]`},
			{"an error of the provider, and a retry", `const {chat, errors} = await open({}); await chat.sendMessage({text: turns({status: 400, text: 'no such model'})}); const first = [chat.status, errors.length, errors[0].includes('no such model')]; chat.clearError(); await chat.sendMessage({text: turns({text: 'went on'}), messageId: chat.messages[0].id}); return [first, chat.status, parts(chat.messages.at(-1))]`,
				`[["error",1,true],"ready",["went on"]]`},
			{"a file that the session refuses", `const {chat, errors, session} = await open({}); await chat.sendMessage({text: 'x', files: [{type: 'file', mediaType: 'image/png', filename: 'a.png', url: 'data:image/png;base64,AAAA'}]}); const first = [chat.status, errors[0].includes('image'), (await session.messages()).length];
				await chat.regenerate(); await chat.sendMessage({text: turns({text: 'without it'}), messageId: chat.messages[0].id}); return [first, errors.length, errors[1] === errors[0], parts(chat.messages[1])]`, `[["error",true,0],2,true,["without it"]]`},
			{"a file with an address is not loaded", `const {chat, errors} = await open({}); await chat.sendMessage({text: 'x', files: [{type: 'file', mediaType: 'image/png', url: 'https://example.org/a.png'}]}); return errors[0].includes('data: or a blob:')`, `true`},
			{"an approval of the chat answers nothing", `const folder = await bailey.folder.memory(); let chat, tried = false; const ask = async (q) => { await until(() => chat.messages.at(-1).parts.some((p) => p.type === 'tool-write')); const p = chat.messages.at(-1).parts.find((p) => p.type === 'tool-write'); if (p.approval) { tried = true; await chat.addToolApprovalResponse({id: p.approval.id, approved: true}); } return 'reject'; };
				({chat} = await open({folder, ask})); await chat.sendMessage({text: turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'so'})}); return [(await folder.list()).length, parts(chat.messages[1]).at(-1)]`, `[0,"so"]`},
			{"a message that is not of the user", `const {session} = await open({}); return failed(transport(session).sendMessages({chatId: 'x', trigger: 'submit-message', messages: [{role: 'assistant', parts: []}]})).then((x) => x.includes('ask of the box'))`, `true`},
			{"a box has a session for each chat", `const b = await box({}), t = transport(b, {version}); const Chat = globalThis.kit.chats[version]; const one = new Chat({id: 'one', transport: t}), two = new Chat({id: 'two', transport: t}); await Promise.all([one.sendMessage({text: turns({text: '1'})}), two.sendMessage({text: turns({text: '2'})})]);
				const s = await t.session('one'); const again = new Chat({id: s.id, transport: transport(session(s, b), {version}), messages: await s.messages()}); await again.sendMessage({text: turns({echo: true})}); return [(await b.sessions()).length, parts(again.messages.at(-1)), (await t.session('two')).id !== s.id]; function session(s) { return s; }`, `[2,["3 messages, files []"],true]`},
			{"a stored session goes on under its id", `const name = 'chat ' + Math.random(); const b = await box({store: name}); const s = await b.session(); await all(s, {text: 'kept'}); await b.close(); const b2 = await box({store: name}), t = transport(b2, {version}); const first = await t.session(s.id);
				const chat = new globalThis.kit.chats[version]({id: s.id, transport: t, messages: await first.messages()}); await chat.sendMessage({text: turns({echo: true})}); const edited = chat.messages[0].id; await chat.sendMessage({text: turns({text: 'edited'}), messageId: edited}); return [first.id === s.id, parts(chat.messages[1]), (await first.messages()).length]`, `[true,["edited"],2]`},
			{"a stream again from its beginning", `const {chat, session} = await open({}); const t = transport(session, {version}); const none = await t.reconnectToStream({chatId: 'c'}); const one = await t.sendMessages({chatId: 'c', trigger: 'submit-message', messages: [{id: 'm', role: 'user', parts: [{type: 'text', text: turns({text: 'half', hold: true})}]}]});
				const read = async (stream) => { const out = []; for (const r = stream.getReader();;) { const {done, value} = await r.read(); if (done || out.push(value.type) && value.type === 'text-delta') return [out, r]; } }; const [a, r] = await read(one); await r.cancel(); const away = new AbortController(); const [b] = await read(await t.reconnectToStream({chatId: 'c', abortSignal: away.signal})); away.abort();
				const again = new globalThis.kit.chats[version]({id: 'c', transport: t}); const resumed = again.resumeStream(); await until(() => again.messages[0]?.parts.some((p) => p.text)); await session.stop(); await resumed; return [none, a.join() === b.join(), parts(again.messages[0]).filter((x) => !x.startsWith('data-')), await t.reconnectToStream({chatId: 'c'})]`,
				`[null,true,["half"],null]`},
		}
		if version == "7" {
			list = append(list,
				row{"a refusal", `const {chat} = await open({folder: await bailey.folder.memory(), ask: () => 'reject'}); await chat.sendMessage({text: turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'so'})}); const m = chat.messages[1], p = m.parts.find((x) => x.type === 'tool-write'); return [parts(m), p.approval.approved]`, `[["tool-write output-denied","so"],false]`},
				row{"the state during a question", `const folder = await bailey.folder.memory(); let chat, seen; const ask = async () => { await until(() => chat.messages.at(-1).parts.some((p) => p.state === 'approval-requested')); seen = chat.messages.at(-1).parts.find((p) => p.type === 'tool-write').approval.id; return 'once'; };
					({chat} = await open({folder, ask})); await chat.sendMessage({text: turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'so'})}); return chat.messages[1].parts.find((p) => p.type === 'tool-write').approval.id === seen`, `true`})
		} else {
			list = append(list, row{"a refusal", `const {chat} = await open({folder: await bailey.folder.memory(), ask: () => 'reject'}); await chat.sendMessage({text: turns({calls: [{tool: 'write', args: {path: 'a.txt', content: 'x'}}]}, {text: 'so'})}); const m = chat.messages[1]; return [parts(m), m.parts.find((x) => x.type === 'data-approval').data.approved]`, `[["tool-write output-error","data-approval","so"],false]`})
		}
		for i := range list {
			list[i].script = "const version = " + version + "; " + open + list[i].script
		}
		t.Run("version "+version, func(t *testing.T) { rows(t, p, list) })
	}
	if t.Failed() {
		t.Logf("console: %q", console())
	}
}

// A page of React with useChat shows a conversation with a tool, a question that the user answers below the call, and a file.
func TestUseChat(t *testing.T) {
	p, console := chatPage(t)
	ctx := testContext(t)
	said := func() string {
		v, _ := p.Eval(ctx, `document.getElementById('app').innerText`)
		return string(v) + strings.Join(console(), "\n")
	}
	shows := func(selector, part string) {
		t.Helper()
		poll.Until(t, selector+" shows "+part, func() bool {
			v, err := p.Eval(ctx, `[...document.querySelectorAll(`+quote(selector)+`)].some((e) => (e.textContent + (e.src ?? '')).includes(`+quote(part)+`))`)
			return err == nil && string(v) == "true"
		}, said)
	}
	do := func(script string) {
		t.Helper()
		if v, err := p.Eval(ctx, `(() => { const {turns, page} = globalThis.kit; `+script+`; return true; })()`); err != nil || string(v) != "true" {
			t.Fatalf("%s, %v: %s", v, err, said())
		}
	}
	file := func() string {
		v, err := p.Eval(ctx, `globalThis.kit.folder.text('a.txt').catch((e) => e.name)`)
		must(t, err)
		return string(v)
	}
	shows("main", "") // React has rendered
	const script = `{calls: [{tool: 'write', args: {path: 'a.txt', content: 'new text'}}]}, {text: 'written, or not'}`
	do(`page.send({text: turns(` + script + `), files: [{type: 'file', mediaType: 'image/png', filename: 'dot.png', url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='}]})`)
	shows(".user img", "data:image/png;base64,iVBORw0KGgo")
	shows(".assistant .approval-requested h2", "a.txt")
	shows(".assistant .approval-requested pre", "new text")
	must(t, p.Click(ctx, ".reject"))
	shows(".assistant .output-denied", "tool-write")
	shows(`[data-status="ready"] .assistant p`, "written, or not")
	if got := file(); got != `"NotFoundError"` {
		t.Errorf("after a refusal a.txt is %s", got)
	}
	do(`page.regenerate()`)
	shows(".assistant .approval-requested h2", "a.txt")
	must(t, p.Click(ctx, ".once"))
	shows(".assistant .output-available", "tool-write")
	shows(`[data-status="ready"] .assistant p`, "written, or not")
	if got := file(); got != `"new text"` {
		t.Errorf("after a yes a.txt is %s", got)
	}
	do(`page.send({text: turns({text: 'half an answer', hold: true})})`)
	shows(`[data-status="streaming"] .assistant p`, "half an answer")
	do(`page.stop()`)
	shows(`[data-status="ready"] .assistant p`, "half an answer")
	do(`page.send({text: turns({text: 'a whole answer'})})`)
	shows(`[data-status="ready"] .assistant p`, "a whole answer")
}
