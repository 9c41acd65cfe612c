package fsaccess

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"

	"github.com/bailey-go/bailey/fsaccess/internal/web"
)

// The benchmarks compare with the best plain JavaScript for the same job, made in the test
// page. The two run alternately in the same run. The metric is the ratio of the medians.

// plain compiles the body of an async function; only a test page permits that.
func plain(b testing.TB, params, body string) func(args ...any) {
	b.Helper()
	maker, err := jsx.NewGlobal("Function", "return async ("+params+") => {"+body+"}")
	must(b, err)
	fn, err := jsx.Invoke(maker)
	must(b, err)
	return func(args ...any) {
		b.Helper()
		_, err := web.AwaitCall(context.Background(), fn, args...)
		must(b, err)
	}
}

// byTurns runs two contenders in alternation and reports the ratio.
func byTurns(b *testing.B, ours, theirs func()) {
	b.Helper()
	var a, p []time.Duration
	ours()
	theirs()
	for range max(b.N, 5) {
		t := time.Now()
		ours()
		a = append(a, time.Since(t))
		t = time.Now()
		theirs()
		p = append(p, time.Since(t))
	}
	slices.Sort(a)
	slices.Sort(p)
	b.ReportMetric(float64(a[len(a)/2].Microseconds())/1000, "ours-ms")
	b.ReportMetric(float64(p[len(p)/2].Microseconds())/1000, "js-ms")
	b.ReportMetric(float64(a[len(a)/2])/float64(p[len(p)/2]), "ratio")
	b.ReportMetric(0, "ns/op")
}

var tenThousand struct {
	once sync.Once
	flat *Folder
	deep *Folder
}

func thousands(b *testing.B) (flat, deep *Folder) {
	b.Helper()
	t := &tenThousand
	t.once.Do(func() {
		ctx := context.Background()
		root, err := OPFS(ctx, ".")
		must(b, err)
		must(b, root.RemoveAll("bench"))
		t.flat, err = OPFS(ctx, "bench/flat")
		must(b, err)
		t.deep, err = OPFS(ctx, "bench/deep")
		must(b, err)
		make10k := plain(b, "flat, deep", `
			const one = async (d, i) => {
				const h = await d.getFileHandle("file-" + String(i).padStart(5, "0") + ".txt", {create: true});
				const w = await h.createWritable(); await w.write("line one\nneedle " + i % 97 + "\nline three\n"); await w.close();
			};
			const dirs = [];
			for (let i = 0; i < 100; i++) dirs.push(await deep.getDirectoryHandle("dir-" + i, {create: true}));
			for (let i = 0; i < 10000; i += 50) {
				await Promise.all(Array.from({length: 50}, (_, k) => one(flat, i + k)));
				await Promise.all(Array.from({length: 50}, (_, k) => one(dirs[(i + k) % 100], i + k)));
			}`)
		make10k(t.flat.c.(*web.Handles).Root, t.deep.c.(*web.Handles).Root)
	})
	return t.flat, t.deep
}

func root(f *Folder) jsx.Value { return f.c.(*web.Handles).Root }

const listJS = `
	const out = [], wait = [];
	for await (const h of dir.values()) {
		wait.push(h);
		if (wait.length === 64) { const fs = await Promise.all(wait.map((h) => h.getFile())); for (const f of fs) out.push([f.name, f.size, f.lastModified]); wait.length = 0; }
	}
	for (const f of await Promise.all(wait.map((h) => h.getFile()))) out.push([f.name, f.size, f.lastModified]);
	if (out.length !== 10000) throw new Error(out.length);`

func BenchmarkFSList10k(b *testing.B) {
	ctx := context.Background()
	flat, _ := thousands(b)
	js := plain(b, "dir", listJS)
	byTurns(b, func() {
		list, err := List(ctx, flat, ".")
		must(b, err)
		if len(list) != 10_000 {
			b.Fatal(len(list))
		}
	}, func() { js(root(flat)) })
}

const walkJS = `
	const out = [];
	const walk = async (d, at) => {
		const files = [], dirs = [];
		for await (const h of d.values()) (h.kind === "file" ? files : dirs).push(h);
		for (let i = 0; i < files.length; i += 64)
			for (const f of await Promise.all(files.slice(i, i + 64).map((h) => h.getFile()))) out.push([at + f.name, f.size]);
		for (let i = 0; i < dirs.length; i += 8) await Promise.all(dirs.slice(i, i + 8).map((x) => walk(x, at + x.name + "/")));
	};
	await walk(dir, "");
	if (out.length !== 10000) throw new Error(out.length);`

func BenchmarkFSWalk10k(b *testing.B) {
	ctx := context.Background()
	_, deep := thousands(b)
	js := plain(b, "dir", walkJS)
	byTurns(b, func() {
		n := 0
		for e, err := range Walk(ctx, deep, ".", WalkOptions{}) {
			must(b, err)
			if !e.Dir {
				n++
			}
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}, func() { js(root(deep)) })
}

func BenchmarkFSGrep10k(b *testing.B) {
	ctx := context.Background()
	_, deep := thousands(b)
	js := plain(b, "dir", `
		let found = 0;
		const walk = async (d) => {
			const files = [], dirs = [];
			for await (const h of d.values()) (h.kind === "file" ? files : dirs).push(h);
			for (let i = 0; i < files.length; i += 64)
				for (const t of await Promise.all(files.slice(i, i + 64).map(async (h) => (await h.getFile()).text())))
					for (const line of t.split("\n")) if (/needle 13$/.test(line)) found++;
			for (let i = 0; i < dirs.length; i += 8) await Promise.all(dirs.slice(i, i + 8).map(walk));
		};
		await walk(dir);
		if (found !== 103) throw new Error(found);`)
	re := regexp.MustCompile("needle 13$")
	byTurns(b, func() {
		n := 0
		for _, err := range Grep(ctx, deep, ".", re, GrepOptions{}) {
			must(b, err)
			n++
		}
		if n != 103 {
			b.Fatal(n)
		}
	}, func() { js(root(deep)) })
}

func BenchmarkFSRead100m(b *testing.B) {
	f := opfs(b)
	must(b, f.WriteFile("big", make([]byte, 100<<20), 0o644))
	js := plain(b, "dir", `const b = await (await (await dir.getFileHandle("big")).getFile()).arrayBuffer(); if (b.byteLength !== 104857600) throw 1;`)
	byTurns(b, func() {
		data, err := f.ReadFile("big")
		must(b, err)
		if len(data) != 100<<20 {
			b.Fatal(len(data))
		}
	}, func() { js(root(f)) })
}

func BenchmarkFSWrite100m(b *testing.B) {
	f := opfs(b)
	data := make([]byte, 100<<20)
	js := plain(b, "dir", `globalThis.benchBytes ??= new Uint8Array(104857600);
		const h = await dir.getFileHandle("theirs", {create: true}); const w = await h.createWritable(); await w.write(globalThis.benchBytes); await w.close();`)
	byTurns(b, func() { must(b, f.WriteFile("ours", data, 0o644)) }, func() { js(root(f)) })
}

const smallJS = `
	for (let i = 0; i < 1000; i++) {
		const h = await dir.getFileHandle("t" + i, {create: true}); const w = await h.createWritable(); await w.write("content " + i); await w.close();
	}`

func BenchmarkFSSmallwrites1k(b *testing.B) {
	f := opfs(b)
	js := plain(b, "dir", smallJS)
	byTurns(b, func() {
		for i := range 1000 {
			must(b, f.WriteFile(fmt.Sprint("o", i), fmt.Appendf(nil, "content %d", i), 0o644))
		}
	}, func() { js(root(f)) })
}

// BenchmarkFSJournalWrite compares a journaled change of a file with a plain
// one, both ours.
func BenchmarkFSJournalWrite(b *testing.B) {
	f, store := opfs(b), opfs(b)
	w := NewJournal(f, store, JournalOptions{})
	body := bytes.Repeat([]byte("text of a note\n"), 300)
	n := 0
	write := func(to FS, name string) func() {
		return func() {
			for range 50 {
				n++
				must(b, to.WriteFile(name, append(body, byte(n), byte(n>>8)), 0o644))
			}
		}
	}
	byTurns(b, write(w, "journaled"), write(f, "plain"))
}
