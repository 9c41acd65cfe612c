package npmtest

import (
	"os"
	"path/filepath"
	"testing"
)

// withTools is a page without a bundler that has the starter tools in tools, and in changed a catalogue with another module
// than it describes.
func withTools(t *testing.T) string {
	t.Helper()
	dir := bareAgent(t)
	for _, folder := range []string{"tools", "changed"} {
		must(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
		for _, name := range []string{"tools.json", "core.wasm"} {
			data, err := os.ReadFile(filepath.Join(root, "build/tools", name))
			if err != nil {
				t.Fatalf("the starter tools are not built: %v (make wasitools)", err)
			}
			if folder == "changed" && name == "core.wasm" {
				data = append(data, 0, 2, 1, 'x') // a custom section more: it is still a module
			}
			must(t, os.WriteFile(filepath.Join(dir, folder, name), data, 0o644))
		}
	}
	return dir
}

// A page runs one WASI program, with limits and typed errors.
func TestWASI(t *testing.T) {
	p, console := kit(t, withTools(t), "")
	const core = `const core = './tools/core.wasm', of8 = (b) => new TextDecoder().decode(b), bytes8 = (s) => new TextEncoder().encode(s); const run = async (name, args, options) => { const r = await bailey.wasi.run(core, {name, args, ...options}); return [r.success, r.exitCode, of8(r.stdout), r.error?.code ?? null]; }; `
	list := []row{
		{"arguments, input and output", `return run('sort', ['-r'], {stdin: 'a\nc\nb\n'})`, `[true,0,"c\nb\na\n",null]`},
		{"bytes as a program and as input", `const wasm = await (await fetch(core)).arrayBuffer(), got = []; for (const w of [wasm, new Uint8Array(wasm), new Blob([wasm]), new URL(core, location.href)]) got.push(of8((await bailey.wasi.run(w, {name: 'cat', stdin: bytes8('x')})).stdout)); return [got, wasm.byteLength > 0]`, `[["x","x","x","x"],true]`},
		{"an exit code is no error", `const r = await bailey.wasi.run(core, {name: 'cat', args: ['none']}); return [r.success, r.exitCode, r.stderr.length > 0, r.stdout.length, 'error' in r, r.stats.duration > 0]`, `[false,1,true,0,false,true]`},
		{"contents as files", `const r = await bailey.wasi.run(core, {name: 'cp', args: ['notes/a.txt', 'notes/b.txt'], files: {'notes/a.txt': 'one', 'c.bin': new Uint8Array([1])}}); return [r.success, Object.keys(r.files), of8(r.files['notes/b.txt']), r.stats.changes]`, `[true,["notes/b.txt"],"one",1]`},
		{"a file that was removed", `const r = await bailey.wasi.run(core, {name: 'rm', args: ['a.txt'], files: {'a.txt': 'one', 'b.txt': ''}}); return [r.success, r.files]`, `[true,{"a.txt":null}]`},
		{"a folder, with an undo", `const folder = await bailey.folder.memory(); await folder.write('a.txt', 'one'); const r = await bailey.wasi.run(core, {name: 'cp', args: ['a.txt', 'b.txt'], files: folder}); const had = await folder.text('b.txt'); await folder.undo(); return [r.success, 'files' in r, had, (await folder.list()).map((e) => e.name)]`, `[true,false,"one",["a.txt"]]`},
		{"no files but those", `return [(await run('cat', ['/etc/passwd'])).slice(0, 2), (await run('cat', ['../../etc/passwd'], {files: {'a.txt': ''}})).slice(0, 2)]`, `[[false,1],[false,1]]`},
		{"the environment", `return run('env', [], {env: {A: '1', B: 'two words'}})`, `[true,0,"A=1\nB=two words\n",null]`},
		{"the limit of time", `const begin = performance.now(); const r = await run('sleep', ['1000'], {limits: {time: 200}}); return [r, performance.now() - begin < 20000]`, `[[false,-1,"","TIMEOUT"],true]`},
		{"the limit of output", `const r = await bailey.wasi.run(core, {name: 'yes', limits: {output: 10000}}); return [r.success, r.error.code, r.stdout.length <= 10000]`, `[false,"OUTPUT_TOO_LARGE",true]`},
		{"the limit of memory", `const r = await bailey.wasi.run(core, {name: 'sort', stdin: 'x\n'.repeat(1000), limits: {memory: 65536}}); return [r.success, typeof r.error.code]`, `[false,"string"]`},
		{"the limit of what is written", `const r = await bailey.wasi.run(core, {name: 'cp', args: ['a.txt', 'b.txt'], files: {'a.txt': 'x'.repeat(100000)}, limits: {write: 1000}}); return [r.success, r.error.code, r.files]`, `[false,"RESOURCE_LIMIT",{}]`},
		{"a signal", `const wasm = new Uint8Array(await (await fetch(core)).arrayBuffer()), a = new AbortController(); const done = bailey.wasi.run(wasm, {name: 'sleep', args: ['1000'], signal: a.signal}); setTimeout(() => a.abort(), 300); return done.then((r) => [r.exitCode, r.error.code], (e) => e.name)`, `[-1,"ABORTED"]`},
		{"a signal while the program is loaded", `return bailey.wasi.run(core, {name: 'true', signal: AbortSignal.abort()}).then((r) => r.error.code, (e) => e.name)`, `"AbortError"`},
		{"no module", `const r = await bailey.wasi.run(new Uint8Array([1, 2, 3])); return [r.success, r.exitCode, r.error.code]`, `[false,-1,"INVALID_PARAMS"]`},
		{"an address that is none", `return failed(bailey.wasi.run('./none.wasm')).then((x) => x.includes('404'))`, `true`},
		{"another hash", `const wasm = await (await fetch(core)).arrayBuffer(), sum = btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', wasm)))); const ok = await bailey.wasi.run(core, {name: 'true', integrity: 'sha256-' + sum});
			return [ok.success, await failed(bailey.wasi.run('./changed/core.wasm', {name: 'true', integrity: 'sha256-' + sum})).then((x) => x.split(':')[0]), await failed(bailey.wasi.run(new Uint8Array(1), {integrity: 'sha256-' + sum})).then((x) => x.includes('for an address'))]`, `[true,"TypeError",true]`},
		{"many at once", `const list = await Promise.all(Array.from({length: 12}, (_, i) => run('echo', [String(i)]))); return list.map((r) => r[2].trim()).join()`, `"0,1,2,3,4,5,6,7,8,9,10,11"`},
	}
	for name, c := range map[string][2]string{
		"no program":             {``, `program is missing`},
		"a number as a program":  {`42`, `program`},
		"an option that is none": {`new Uint8Array(1), {arg: []}`, `arg: there is no such option`},
		"arguments in a text":    {`new Uint8Array(1), {args: '-n'}`, `args: must be a list of texts`},
		"a limit that is none":   {`new Uint8Array(1), {limits: {cpu: 1}}`, `cpu: there is no such option`},
		"a limit of nothing":     {`new Uint8Array(1), {limits: {memory: 0}}`, `above 0`},
		"a path that leads out":  {`new Uint8Array(1), {files: {'../a': ''}}`, `must have the path of a file`},
		"a file that is none":    {`new Uint8Array(1), {files: {a: 1}}`, `files: a`},
		"a signal that is none":  {`new Uint8Array(1), {signal: {}}`, `AbortSignal`},
	} {
		list = append(list, row{"an error at once: " + name, `const said = await failed((async () => bailey.wasi.run(` + c[0] + `))()); return said.includes(` + quote(c[1]) + `) ? true : said`, `true`})
	}
	for i := range list {
		list[i].script = core + list[i].script
	}
	rows(t, p, list)
	if t.Failed() {
		t.Logf("console: %q", console())
	}
}

// A box has the programs of a catalogue, for bash and tool_run. They are loaded when they are needed, and verified.
func TestCommands(t *testing.T) {
	p, console := kit(t, withTools(t), "")
	const open = `const open = async (options) => { const folder = await bailey.folder.memory(); await folder.write('a.txt', 'c\na\nb\n'); const b = await box({folder, commands: './tools/tools.json', shell: true, ask: () => 'once',
			policy: {capabilities: {'fs.read': ['.'], 'fs.write': ['.'], 'shell.run': ['*'], 'stream.send': true}}, ...options}); return {b, folder}; };
		const loaded = (part) => performance.getEntriesByType('resource').filter((e) => e.name.includes(part)).length; `
	list := []row{
		{"nothing is loaded before a command runs", `const {b} = await open({}); return [loaded('tools/tools.json') > 0, loaded('tools/core.wasm'), (await b.tools()).filter((t) => ['bash', 'tool_run'].includes(t.name)).every((t) => t.available)]`, `[true,0,true]`},
		{"tool_run", `const {b} = await open({}); const r = await b.call('tool_run', {command: 'sort', args: ['a.txt'], read: ['a.txt']}); return [r, loaded('tools/core.wasm')]`, `[{"exit_code":0,"output":"a\nb\nc\n","stderr":""},1]`},
		{"bash", `const {b, folder} = await open({}); const r = await b.call('bash', {command: 'sort a.txt | tac > b.txt; cat b.txt'}); return [r.output, r.exit_code, await folder.text('b.txt')]`, `["c\nb\na\n",0,"c\nb\na\n"]`},
		{"a question is asked about a command", `const asked = []; const {b} = await open({ask: (q) => { asked.push(q.title); return 'reject'; }}); const said = await failed(b.call('tool_run', {command: 'sort', args: ['a.txt'], read: ['a.txt']})); return [asked.length, asked[0].includes('sort'), said.includes('declined')]`, `[1,true,true]`},
		{"a module with another hash does not run", `const {b} = await open({commands: './changed/tools.json'}); return failed(b.call('tool_run', {command: 'sort', args: ['a.txt'], read: ['a.txt']})).then((x) => [x.split(':')[0], x.includes('SHA-256')])`, `["SECURITY_VIOLATION",true]`},
		{"without shell.run it is not available", `const b = await box({commands: new URL('./tools/tools.json', location.href)}); return (await b.tools()).find((t) => t.name === 'tool_run').available`, `false`},
		{"a catalogue that is none", `return [await failed(box({commands: './index.html'})).then((x) => x.includes('commands: ') && x.includes('no catalogue')), await failed(box({commands: './none.json'})).then((x) => x.includes('404')), await failed(box({commands: 42})).then((x) => x.includes('the address of a tools.json'))]`, `[true,true,true]`},
	}
	for i := range list {
		list[i].script = open + list[i].script
	}
	rows(t, p, list)
	if t.Failed() {
		t.Logf("console: %q", console())
	}
}
