package examples

import (
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// The prebuilt program gives pages without Go folders with an undo.
func TestPlainFolders(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"plain/")
	must(t, err)
	must(t, p.Eval(ctx, `import("./api.mjs").then(({load}) => load({panel: false})).then((b) => {
		globalThis.folder = b.folder;
		globalThis.failed = (promise) => promise.then(() => "no error", (e) => e.name + ": " + e.message);
		globalThis.reason = (promise) => promise.then(() => "no error", (e) => e.name);
	})`, nil))
	for _, c := range []struct{ name, script, want string }{
		{"files", `
			const f = await folder.memory();
			await f.mkdir("a/b");
			const v = await f.write("a/b/c.txt", "one\ntwo\n");
			await f.write("a/bytes", new Uint8Array([0, 255, 1]));
			const list = (await f.list("a")).map((e) => [e.name, e.path, e.folder, e.link, e.size, e.modified > 1e12]);
			return [f.name, await f.text("a/b/c.txt"), [...await f.read("a/bytes")], v === await f.version("a/b/c.txt"), list]`,
			`["","one\ntwo\n",[0,255,1],true,[["b","a/b",true,false,0,true],["bytes","a/bytes",false,false,3,true]]]`},
		{"rename and remove", `
			const f = await folder.memory();
			await f.write("a", "x");
			await f.rename("a", "b");
			await f.mkdir("d/e");
			const full = await reason(f.remove("d"));
			await f.remove("d", {recursive: true});
			await f.remove("b");
			return [full !== "no error", await f.list(), await reason(f.remove("d", {recursive: true})), await reason(f.read("b")), await f.version("b")]`,
			`[true,[],"NotFoundError","NotFoundError","absent"]`},
		{"search", `
			const f = await folder.memory();
			await f.mkdir("d");
			await f.write("a.txt", "one\ntwo three\n"); await f.write("d/b.txt", "two\n");
			return [(await f.search("t(w)o")).map((m) => [m.path, m.line, m.column, m.text]), (await f.search("two", {max: 1})).length, (await f.search("two", {path: "d"})).length, (await failed(f.search("("))).includes("RE2")]`,
			`[[["a.txt",2,1,"two three"],["d/b.txt",1,1,"two"]],1,1,true]`},
		{"undo", `
			const f = await folder.memory();
			await f.write("a", "1"); await f.write("a", "2"); await f.undo();
			const one = await f.text("a");
			await f.redo();
			const [step] = await f.history();
			const diff = await f.diff(step.id);
			await f.revert(step.id);
			return [one, await f.text("a"), step.op, step.paths, diff.includes("-1") && diff.includes("+2"), await reason(f.redo())]`,
			`["1","1","redo",["a"],true,"no error"]`},
		{"nothing to undo", `const f = await folder.memory(); return [await reason(f.undo()), await reason(f.revert(7))]`, `["NothingError","NothingError"]`},
		{"a group is one step", `
			const f = await folder.memory();
			let kept;
			await f.group("two files", async (work) => { kept = work; await work.write("a", "1"); await work.write("b", "2"); });
			const [step] = await f.history();
			await f.undo();
			const empty = await f.list();
			const why = await failed(f.group("fails", async (work) => { await work.write("c", "3"); throw new TypeError("as asked"); }));
			return [step.label, step.paths, empty, why.includes("as asked"), await f.list(), (await failed(kept.write("x", "y"))).includes("closed")]`,
			`["two files",["a","b"],[],true,[],true]`},
		{"a group that fails while a change is under way", `
			const f = await folder.storage("grouped"), big = new Uint8Array(1 << 20);
			const why = await reason(f.group("fails", (work) => Promise.all([work.write("big", big), work.text("missing")])));
			return [why, await f.list(), await reason(f.undo())]`,
			`["NotFoundError",[],"NothingError"]`},
		{"a version", `
			const f = await folder.memory();
			const first = await f.write("a", "1", {version: "absent"});
			await f.write("a", "2");
			return [await reason(f.write("a", "3", {version: first})), await reason(f.write("a", "3", {version: "absent"})), await f.text("a"), (await failed(f.write("a", "3", {version: ""}))).includes("version()")]`,
			`["ConflictError","ConflictError","2",true]`},
		{"names that lead out", `
			const f = await folder.storage("out");
			return Promise.all(["../x", "/x", "a/../../x", ""].map((n) => f.write(n, "x").then(() => n + " written", (e) => "refused")))`,
			`["refused","refused","refused","refused"]`},
		{"no undo", `const f = await folder.memory({undo: false}); await f.write("a", "1"); return [typeof f.undo, typeof f.history, await f.text("a")]`, `["undefined","undefined","1"]`},
		{"the limit of memory", `
			const f = await folder.memory({maxBytes: 10});
			await f.write("a", "123456789"); await f.write("a", "1234567890");
			return [await reason(f.write("a", "12345678901")), await f.text("a")]`, `["QuotaExceededError","1234567890"]`},
		{"storage lasts, and so does its undo", `
			const f = await folder.storage("kept", {undo: "kept"});
			await f.write("a", "1"); await f.write("a", "2"); await f.close();
			const again = await folder.storage("kept", {undo: "kept"});
			await again.undo();
			return [again.name, await again.text("a"), (await failed(f.read("a"))).includes("closed")]`, `["kept","1",true]`},
		{"the steps' own folder", `return (await failed(folder.storage("bailey-undo/kept"))).includes("steps of undo")`, `true`},
		{"a path that leads out of the storage", `return (await failed(folder.storage("../x"))).includes("must be a path")`, `true`},
		{"a name of the undo that leads elsewhere", `return (await failed(folder.storage("x", {undo: "../kept"}))).includes("without a slash")`, `true`},
		{"not a text", `const f = await folder.memory(); await f.write("a", new Uint8Array([255])); return (await failed(f.text("a"))).includes("read() returns its bytes")`, `true`},
		{"bad arguments", `
			const f = await folder.memory();
			return Promise.all([f.write("a"), f.write("a", 5), f.read(), f.remove("a", {deep: true}), folder.memory({write: true}), f.group("x", 5)].map((x) => failed(x).then((s) => s.split(": ").slice(1).join(": "))))`,
			`["write(path, data): data is missing","write(path, data): data: must be a text or a Uint8Array","read(path): path is missing","remove(path, options): deep: there is no such option","folder.memory(options): write: there is no such option","group(label, change): change must be a function, which gets a folder and returns a promise"]`},
		{"zip", `const f = await folder.memory(); await f.write("a", "1"); const z = await f.zip(); return [z instanceof Uint8Array, String.fromCharCode(z[0], z[1])]`, `[true,"PK"]`},
		{"pick, and remember", `
			const real = await (await navigator.storage.getDirectory()).getDirectoryHandle("picked", {create: true});
			globalThis.showDirectoryPicker = async (o) => { globalThis.asked = o; return real; };
			const f = await folder.pick({write: true, id: "notes", startIn: "documents"});
			await f.write("a", "1");
			const name = await f.remember("mine");
			const [r] = await folder.remembered();
			const again = await folder.restore("mine");
			return [asked.mode, asked.id, asked.startIn, f.name, name, r.name, r.folder, await again.text("a"), await reason(folder.restore("other"))]`,
			`["readwrite","notes","documents","picked","mine","mine","picked","1","NotFoundError"]`},
		{"the user closes the dialogue", `
			globalThis.showDirectoryPicker = async () => { throw new DOMException("closed", "AbortError"); };
			return reason(folder.pick())`, `"AbortError"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got any
			must(t, p.Eval(ctx, `(async () => {`+c.script+`})().then((x) => JSON.stringify(x))`, &got))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	noViolations(t, p)
	noErrors(t, p)
}
