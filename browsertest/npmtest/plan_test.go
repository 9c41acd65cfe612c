package npmtest

import "testing"

// A box makes a dry run over a copy of the folder, and one answer applies it.
func TestPlan(t *testing.T) {
	p, console := kit(t, bareAgent(t), "")
	const open = `const open = async (ask, options) => { const folder = await bailey.folder.memory(); await folder.write('a.txt', 'one\n'); await folder.write('b.txt', 'two\n'); const asked = []; const b = await box({folder, ask: async (q) => { asked.push(q); return ask ? ask(q) : 'once'; }, ...options}); const plan = await b.plan(); return {b, folder, plan, asked}; };
		const write = (path, content) => ({tool: 'write', args: {path, content}}), names = async (folder) => (await folder.list()).map((e) => e.name).join(); `
	list := []row{
		{"a session of a plan", `const {b, folder, plan, asked} = await open(); const s = await plan.box.session(); const c = await all(s, {calls: [{tool: 'read', args: {path: 'a.txt'}}]}, {calls: [write('a.txt', 'new\n'), write('c.txt', 'three\n'), {tool: 'delete', args: {path: 'b.txt'}}]}, {calls: [{tool: 'read', args: {path: 'a.txt'}}]}, {echo: true});
			const before = [await names(folder), await folder.text('a.txt'), asked.length, text(c).includes('new')]; const changes = await plan.changes(), diff = await plan.diff(); const done = await plan.apply(); const after = [await names(folder), await folder.text('a.txt'), asked.length, asked[0].tool, asked[0].diff === diff, asked[0].destroys, asked[0].unified]; await folder.undo();
			return [before, changes, diff.includes('-one') && diff.includes('+new'), done.length, after, [await names(folder), await folder.text('a.txt')]]`,
			`[["a.txt,b.txt","one\n",0,true],[{"path":"a.txt","kind":"changed","folder":false,"size":4},{"path":"b.txt","kind":"removed","folder":false,"size":4},{"path":"c.txt","kind":"added","folder":false,"size":6}],true,3,["a.txt,c.txt","new\n",1,"plan",true,true,true],["a.txt,b.txt","one\n"]]`},
		{"a no changes nothing", `const {folder, plan} = await open(() => 'reject'); await plan.box.call('write', {path: 'c.txt', content: 'x'}); const said = await failed(plan.apply()); return [said.split(':')[0], said.includes('declined'), await names(folder)]`, `["CAPABILITY_DENIED",true,"a.txt,b.txt"]`},
		{"it is applied once", `const {plan, folder} = await open(); await plan.box.call('write', {path: 'c.txt', content: 'x'}); await plan.apply(); const again = await failed(plan.apply()), late = await failed(plan.box.call('write', {path: 'd.txt', content: 'x'})); return [again.split(':')[0], late.startsWith('it succeeded'), await names(folder)]`, `["SESSION_ERROR",false,"a.txt,b.txt,c.txt"]`},
		{"another program's change", `const {plan, folder} = await open(); await plan.box.call('read', {path: 'a.txt'}); await plan.box.call('write', {path: 'a.txt', content: 'mine'}); await folder.write('a.txt', 'theirs'); const said = await failed(plan.apply()); return [said.split(':')[0], await folder.text('a.txt')]`, `["ConflictError","theirs"]`},
		{"the copy changes during the question", `const got = []; let plan; const opened = await open(async () => { got.push(await failed(plan.box.call('write', {path: 'evil.txt', content: 'x'}))); return 'once'; }); plan = opened.plan; await plan.box.call('write', {path: 'c.txt', content: 'x'}); await plan.apply(); return [got.length, got[0].startsWith('it succeeded'), await names(opened.folder)]`, `[1,false,"a.txt,b.txt,c.txt"]`},
		{"stop during the question", `let b; const opened = await open(async () => { await b.stop('enough'); return new Promise(() => {}); }); b = opened.b; await opened.plan.box.call('write', {path: 'c.txt', content: 'x'}); const said = await failed(opened.plan.apply()); return [said.includes('enough'), await names(opened.folder)]`, `[true,"a.txt,b.txt"]`},
		{"effects out of the folder are refused", `let ran = 0; const {plan, asked} = await open(null, {policy: {capabilities: {'fs.read': ['.'], 'fs.write': ['.'], 'net.fetch': ['a.example'], 'stream.send': true}}, tools: {send: {effects: [{capability: 'net.fetch', subject: 'a.example'}], run: () => { ran++; }}}}); const said = await failed(plan.box.call('send')); return [ran, asked.length, said.split(':')[0]]`, `[0,0,"CAPABILITY_DENIED"]`},
		{"the policy's no holds", `const {plan} = await open(null, {policy: {capabilities: {'fs.read': ['.'], 'fs.write': ['notes'], 'stream.send': true}}}); return (await failed(plan.box.call('write', {path: 'c.txt', content: 'x'}))).split(':')[0]`, `"CAPABILITY_DENIED"`},
		{"no folder", `const b = await box({}); return (await failed(b.plan())).split(':')[0]`, `"SESSION_ERROR"`},
		{"no changes", `const {plan, asked} = await open(); return [await plan.changes(), await plan.diff(), await plan.apply(), asked.length]`, `[[],"",[],0]`},
		{"what belongs to a closed box is closed", `const {b, plan, folder} = await open(); const s = await plan.box.session(); await b.close(); return [await failed(plan.apply()), await failed(s.messages()), await failed(plan.box.call('write', {path: 'c.txt', content: 'x'})), await names(folder)]`, `["Error: apply(): this is closed","Error: messages(): this is closed","Error: call(): this is closed","a.txt,b.txt"]`},
		{"closed", `const {b, plan} = await open(); const s = await plan.box.session(); await plan.close(); return [(await failed(s.messages())).includes('closed'), (await failed(plan.diff())).includes('closed'), await b.call('read', {path: 'a.txt'}).then(() => 'the box goes on')]`, `[true,true,"the box goes on"]`},
		{"two plans", `const {b, plan, folder} = await open(); const other = await b.plan(); await plan.box.call('write', {path: 'c.txt', content: '1'}); await other.box.call('write', {path: 'd.txt', content: '2'}); await plan.apply(); await other.apply(); return names(folder)`, `"a.txt,b.txt,c.txt,d.txt"`},
		{"a conversation goes on in a plan", `const {b, plan} = await open(); const s = await b.session(); await all(s, {text: 'Hello'}); const id = s.id; await s.close(); const again = await plan.box.session(id); return text(await all(again, {echo: true}))`, `"3 messages, files []"`},
	}
	for i := range list {
		list[i].script = open + list[i].script
	}
	rows(t, p, list)
	if t.Failed() {
		t.Logf("console: %q", console())
	}
}
