package npmtest

import "testing"

// TestEnclaveCompat runs the behaviour that the end-to-end tests of @enclave-vm/browser describe, but for its internals and the
// differences that docs/interop.md lists.
func TestEnclaveCompat(t *testing.T) {
	p, _ := kit(t, bareAgent(t), "")
	const setup = `const {EnclaveCompat, BrowserEnclave, LIMITS} = await import(new URL('bailey/enclave.mjs', location.href).href);
		const run = async (code, options = {}, handler) => { const e = new EnclaveCompat({bailey, ...options}); try { return await e.run(code, handler); } finally { e.dispose(); } };
		const value = async (...args) => { const r = await run(...args); return r.success ? r.value : r.error.name + ': ' + r.error.message; };
		const error = async (...args) => { const r = await run(...args); return r.success ? 'success' : r.error.code; }; `
	var list []row
	add := func(name, script, want string) { list = append(list, row{name, setup + script, want}) }
	// Execution.
	add("values", `return [await value('return 2 + 3'), await value('return "hello"'), await value('return {name: "test", count: 3}'), await value('return [1, 2, 3]'), await value('const x = "w"; return \x60hello ${x}\x60 + "!"'),
		await value('let sum = 0; for (let i = 1; i <= 10; i++) sum += i; return sum', {securityLevel: 'PERMISSIVE'})]`, `[5,"hello",{"name":"test","count":3},[1,2,3],"hello w!",55]`)
	add("a function of the peer's name", `return value('async function __ag_main() {\n  return await Promise.resolve(42);\n}', {validate: false, transform: false})`, `42`)
	add("globals", `return [await value('return multiplier * 5', {globals: {multiplier: 10, f: () => 1, n: 1n}}), await value('return typeof f', {globals: {f: () => 1}})]`, `[50,"undefined"]`)
	add("an error", `const r = await run('const o = null;\n\nreturn o.foo;'); return [r.success, r.error.name, /:3:/.test(r.error.stack), 'value' in r]`, `[false,"TypeError",true,false]`)
	add("no stack at the stricter levels", `return [(await run('throw new Error("a")', {securityLevel: 'SECURE'})).error.stack ?? '', (await run('let = ;')).error.name]`, `["","SyntaxError"]`)
	add("stats", `const {stats} = await run('await callTool("a", {}); await callTool("b", {}); return 1', {toolHandler: () => 1});
		return [stats.toolCallCount, stats.iterationCount, typeof stats.duration, stats.endTime - stats.startTime === stats.duration]`, `[2,0,"number",true]`)
	add("a program of its own", `const e = new BrowserEnclave({securityLevel: 'STRICT'}); const r = await e.run('return 1'); const level = e.getSecurityLevel(); e.dispose(); return [r.value, level, BrowserEnclave === EnclaveCompat]`, `[1,"STRICT",true]`)
	// Tools.
	add("tools", `const got = []; const toolHandler = async (name, args) => { got.push([name, args]); return args.x + args.y; };
		return [await value('return [await callTool("add", {x: 1, y: 2}), await callTool("math:add", {x: 3, y: 4})]', {toolHandler}), got]`, `[[3,7],[["add",{"x":1,"y":2}],["math:add",{"x":3,"y":4}]]]`)
	add("a handler of one run", `return [await value('return callTool("a")', {toolHandler: () => 1}, () => 2), await value('return callTool("a", {})', {toolHandler: () => 1})]`, `[2,1]`)
	add("tools that fail", `return [await value('return callTool("fail", {})', {toolHandler: () => { throw new Error('tool failed'); }}), await value('return callTool("a", {})'), await value('return callTool("", {})', {toolHandler: () => 1}),
		await value('return callTool("x".repeat(257), {})', {toolHandler: () => 1}), await error('return callTool("a", [1])', {toolHandler: () => 1})].map((x) => x.replace(/^.*(tool failed|No tool handler configured|Invalid tool name).*$/, '$1'))`,
		`["tool failed","No tool handler configured","Invalid tool name","Invalid tool name","EXECUTION_ERROR"]`)
	add("too many calls", `const r = await run('for (let i = 0; i < 20; i++) await callTool("ping", {i}); return "done"', {maxToolCalls: 5, securityLevel: 'PERMISSIVE', toolHandler: () => 1}); return [r.error.code, r.error.message]`, `["MAX_TOOL_CALLS_EXCEEDED","Tool call limit exceeded: a run may call tools 5 times"]`)
	add("parallel", `let now = 0, most = 0; const toolHandler = async () => { most = Math.max(most, ++now); await new Promise((r) => setTimeout(r, 50)); now--; return 1; };
		const n = await value('const all = await parallel(Array.from({length: 40}, (_, i) => () => callTool("t" + i, {})), {concurrency: 20}); return all.length', {toolHandler}); return [n, most > 1 && most <= LIMITS.parallel]`, `[40,true]`)
	add("names of operations", `const toolHandler = (name) => name, only = (parentValidation) => value('const out = []; for (const n of ["read:a", "write:b", "read:c"]) out.push(await callTool(n, {}).catch(() => "no")); return out', {toolHandler, doubleIframe: {parentValidation}});
		return [await only({allowedOperationPattern: /^read:/g}), await only({blockedOperationPatterns: [/a$/, /c$/]})]`, `[["read:a","no","read:c"],["no","write:b","no"]]`)
	add("sequences", `const seen = []; const suspiciousPatterns = [{id: 'X', description: 'send after list', detect: (name, args, history) => { seen.push(history.length); return name === 'send' && history.some((h) => h.operationName === 'list'); }}];
		const code = 'const out = []; for (const n of ["send", "list", "send"]) out.push(await callTool(n, {to: 1}).catch((e) => e.message)); return out', toolHandler = () => 'ok';
		return [(await value(code, {toolHandler, doubleIframe: {parentValidation: {suspiciousPatterns}}})).map((x) => x.slice(0, 20)), seen, await value(code, {toolHandler, doubleIframe: {parentValidation: {suspiciousPatterns, blockSuspiciousSequences: false}}})]`,
		`[["ok","ok","send is part of a su"],[0,1,2],["ok","ok","ok"]]`)
	add("enumeration", `const code = 'let n = 0; for (let i = 0; i < 40; i++) await callTool("a", {i}).then(() => n++, () => {}); return n', toolHandler = () => 1;
		return [await value(code, {toolHandler}), await value(code, {toolHandler, doubleIframe: {parentValidation: {rapidEnumerationThreshold: 5}}}), await value(code, {toolHandler, doubleIframe: {parentValidation: {rapidEnumerationOverrides: {a: 100}}}})]`, `[30,5,40]`)
	// Limits.
	add("time", `const r = await run('while (true) {}', {timeout: 300}), s = await run('await new Promise((r) => setTimeout(r, 60000)); return 1', {timeout: 300, validate: false}); return [r.error.code, /timed out after 300ms/.test(r.error.message), s.error.name, await value('await sleep(50); return "done"', {timeout: 20000})]`,
		`["EXECUTION_TIMEOUT",true,"TimeoutError","done"]`)
	add("memory", `return [await value('return "x".repeat(600000).length').then((x) => /^RangeError|memory/.test(x)), await value('return "x".repeat(600000).length', {memoryLimit: 1 << 24}), LIMITS.memory]`, `[true,600000,1048576]`)
	add("console", `const rows = [], own = {...console}; for (const level of ['log', 'warn', 'error']) console[level] = (...args) => rows.push([level, ...args]);
		try { await run('console.log("a", 1); console.warn({b: 2}); console.error("c")'); await run('for (let i = 0; i < 10; i++) console.log("msg " + i)', {maxConsoleCalls: 3}); } finally { Object.assign(console, own); }
		return [rows.slice(0, 3).map((r) => r[0] + r[1]), rows.length - 3 <= 3]`, `[["log[Enclave]","warn[Enclave]","error[Enclave]"],true]`)
	add("dispose", `const e = new EnclaveCompat({bailey}); const late = e.run('await sleep(60000); return 1', () => 1); await e.run('return 1'); e.dispose(); e.dispose(); 
		const r = await late, after = await e.run('return 1'); return [r.error.code, after.error.code, /disposed/.test(after.error.message)]`, `["EXECUTION_ABORTED","EXECUTION_ABORTED",true]`)
	// Walls.
	add("walls", `return value('const out = []; for (const f of [() => window.parent.document.title, () => eval("1+1"), () => new Function("return 1")()]) { try { out.push(f()); } catch { out.push("blocked"); } } return [...out, typeof fetch, typeof document, typeof XMLHttpRequest]', {validate: false})`,
		`["blocked","blocked","blocked","undefined","undefined","undefined"]`)
	add("refused before the run", `return (await Promise.all(['eval("1 + 1")', 'new Function("return 1")', 'Function("return 1")', 'const p = ({}).__proto__', 'const c = [].constructor.constructor; c("return 1")()', 'const g = globalThis', '({}).__defineGetter__("x", function() { return 1; })',
			'setTimeout("alert(1)", 100)', 'const p = String.prototype', 'const c = ({}) . constructor'].map((code) => run(code, {securityLevel: 'STRICT'})))).map((r) => r.error?.name + ' ' + r.error?.code).filter((x) => x !== 'ValidationError VALIDATION_ERROR')`, `[]`)
	add("not refused", `return [await value('return 1 + 2'), await value('class A { constructor() { this.a = 1; } } return new A().a'), await value('// eval\nreturn "x.constructor" + \x60eval\x60.length', {securityLevel: 'STRICT'}), (await run('\n\neval("1")')).error.data.issues[0].line]`, `[3,1,"x.constructor4",3]`)
	add("options", `const e = (o) => { try { new EnclaveCompat(o); return ''; } catch (e) { return e.message.replace(/^EnclaveCompat: /, '').split(':')[0]; } };
		return [e({securityLevel: 'NONE'}), e({securitylevel: 'STRICT'}), e({globals: {a: 1}, preset: 'strict'}), e({customSerializablePatterns: [{id: 'a'}]}), e({}), new EnclaveCompat().getSecurityLevel()]`, `["securityLevel","securitylevel","globals","customSerializablePatterns","","STANDARD"]`)
	// Code of one run calls the handler of another.
	add("attack: the handler of another run", `const got = []; const e = new EnclaveCompat({bailey}); let begun; const ready = new Promise((r) => { begun = r; });
		const victim = e.run('await callTool("begin", {}); await sleep(1000); return 1', (name) => { got.push('victim ' + name); begun(); }); await ready;
		const r = await e.run('})(0) || await (async () => { const out = []; for (const run of ["1", "0", "", "undefined", "__proto__"]) out.push(await callTool("call", {run, name: "steal", args: {}}).then(() => "stolen", (e) => e.message)); return out; })(); (async () => {', (name) => { got.push('own ' + name); });
		e.dispose(); await victim; return [got, r.value.length, JSON.stringify(r).includes('stolen')]`, `[["victim begin"],5,false]`)
	rows(t, p, list)
}
