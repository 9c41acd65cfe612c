package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/until"

	"github.com/bailey-go/bailey/fsaccess/internal/web"
)

// TestKilledInBrowser kills programs in the middle of what they do on the
// origin-private file system: a second copy of this test binary, in a worker or
// in a frame, writes, removes, moves, applies and undoes through a journal until
// its worker is terminated or its frame removed, which is what closing the tab
// does. After each death the journal is opened again here: no file may be torn,
// and undo and redo must work, all the way down and back.
func TestKilledInBrowser(t *testing.T) {
	if dir := os.Getenv("FSACCESS_VICTIM"); dir != "" {
		browserVictim(t, dir)
		return
	}
	needOPFS(t)
	if !jsx.Supported("document") {
		t.Skip("frames are made in a page")
	}
	kills, perFolder := 200, 8
	if testing.Short() {
		kills, perFolder = 20, 5
	}
	ctx := context.Background()
	root := opfs(t)
	name := fmt.Sprintf("test-%d", opfsCount.Load())
	m := newMurderer(t)
	r := rand.New(rand.NewPCG(11, 13))
	inside := 0
	for i := range kills {
		dir := fmt.Sprint(name, "/", i/perFolder)
		in := "worker"
		if i%2 == 1 {
			in = "frame"
		}
		where := fmt.Sprintf("death %d, in a %s", i, in)
		if m.kill(in, dir, i, 1+r.IntN(5), time.Duration(r.IntN(16000))*time.Microsecond) {
			inside++
		}
		survive(t, where, dir, i%perFolder == perFolder-1)
		if i%perFolder == perFolder-1 {
			must(t, root.RemoveAll(fmt.Sprint(i/perFolder)))
		}
	}
	t.Logf("%d deaths, %d of them in the middle of an operation", kills, inside)
	if inside < kills/2 {
		t.Errorf("only %d of %d died in the middle of an operation", inside, kills)
	}
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
}

func openKilled(t *testing.T, dir string) (*Journal, *Folder) {
	t.Helper()
	ctx := context.Background()
	disk, err := OPFS(ctx, dir+"/files")
	must(t, err)
	store, err := OPFS(ctx, dir+"/undo")
	must(t, err)
	return NewJournal(disk, store, JournalOptions{MaxEntries: 1 << 20, MaxBytes: 4 << 30}), disk
}

// browserVictim changes things until it is killed, and says when it begins and
// ends each. Every file is one byte many times.
func browserVictim(t *testing.T, dir string) {
	ctx := context.Background()
	w, _ := openKilled(t, dir)
	tell, err := jsx.NewGlobal("BroadcastChannel", "victim of "+dir)
	must(t, err)
	var seed uint64
	fmt.Sscan(os.Getenv("FSACCESS_SEED"), &seed)
	r := rand.New(rand.NewPCG(seed, 1))
	names := []string{"a", "b", "c", "d/a", "d/b", "d/e/a"}
	for {
		p, q := names[r.IntN(len(names))], names[r.IntN(len(names))]
		body := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, 1000*(1+r.IntN(60)))
		op := r.IntN(12)
		_, _ = jsx.Call(tell, "postMessage", "begin")
		switch op {
		case 0:
			_ = w.MkdirAll("d/e", 0o755)
		case 1:
			_ = w.Remove(p)
		case 2:
			_ = w.RemoveAll("d")
		case 3:
			_ = w.Rename(p, q)
		case 4, 5:
			_ = w.Undo(ctx)
		case 6:
			_ = w.Redo(ctx)
		case 7, 8:
			o := NewOverlay(w, NewMemory(MemoryOptions{}))
			_ = o.WriteFile(p, body, 0o644)
			_ = o.Remove(q)
			_ = o.WriteFile("applied", body, 0o644)
			_, _ = o.Apply(ctx)
		default:
			_ = w.WriteFile(p, body, 0o644)
		}
		_, _ = jsx.Call(tell, "postMessage", "end")
	}
}

// survive opens and checks the folder of a killed program.
func survive(t *testing.T, where, dir string, all bool) {
	t.Helper()
	ctx := context.Background()
	w, disk := openKilled(t, dir)
	if _, err := w.Snapshot(); err != nil {
		t.Fatalf("%s: open again: %v", where, err)
	}
	whole := func(when string) string {
		for e, err := range Walk(ctx, disk, ".", WalkOptions{}) {
			must(t, err)
			if e.Dir {
				continue
			}
			data, err := disk.ReadFile(e.Path)
			must(t, err)
			if len(data) == 0 || len(data)%1000 != 0 || bytes.Count(data, data[:1]) != len(data) {
				t.Fatalf("%s: %s, %s is torn: %d bytes", where, when, e.Path, len(data))
			}
		}
		return tree(t, disk)
	}
	before := whole("as it was left")
	if strings.Contains(before, "swap") {
		t.Errorf("%s: a swap file is left:\n%s", where, before)
	}
	undone := w.Undo(ctx)
	if undone != nil && !errors.Is(undone, ErrNothing) {
		t.Fatalf("%s: undo: %v", where, undone)
	}
	whole("after an undo")
	if undone == nil {
		if err := w.Redo(ctx); err != nil {
			t.Fatalf("%s: redo: %v", where, err)
		}
		if g := whole("after a redo"); g != before {
			t.Fatalf("%s: redo gave\n%s\nnot\n%s", where, g, before)
		}
	}
	if !all {
		return
	}
	if err := w.UndoTo(ctx, "0"); err != nil {
		t.Fatalf("%s: undo all: %v", where, err)
	}
	if g := tree(t, disk); g != "./\n" {
		t.Fatalf("%s: after undoing all there is\n%s", where, g)
	}
	if err := w.Undo(ctx); err != nil {
		t.Fatalf("%s: undo of the undo: %v", where, err)
	}
	if g := whole("after undoing the undo"); g != before {
		t.Fatalf("%s: undo of the undo gave\n%s\nnot\n%s", where, g, before)
	}
}

// murderer starts copies of this binary and ends them.
type murderer struct {
	t      *testing.T
	scope  *jsx.Scope
	module jsx.Value
	exec   string // the address of wasm_exec.js
}

func newMurderer(t *testing.T) *murderer {
	t.Helper()
	m := &murderer{t: t, scope: jsx.NewScope(jsx.ScopeOptions{})}
	t.Cleanup(func() { m.scope.Close() })
	location, err := jsx.Lookup(jsx.Global(), "location")
	must(t, err)
	href, err := web.StringOf(location, "href")
	must(t, err)
	base, page, ok := strings.Cut(href, "page/?")
	if !ok {
		t.Skipf("the test binary's address does not follow from %s", href)
	}
	m.exec = base + "wasm_exec.js"
	ctx := context.Background()
	response, err := jsx.Call(jsx.Global(), "fetch", base+"test.wasm?"+page)
	must(t, err)
	class, err := jsx.Lookup(jsx.Global(), "WebAssembly")
	must(t, err)
	m.module, err = jsx.CallAwait(ctx, class, "compileStreaming", response)
	must(t, err)
	must(t, jsx.Set(jsx.Global(), "victimModule", m.module))
	t.Cleanup(func() { _ = jsx.Delete(jsx.Global(), "victimModule") })
	return m
}

const startVictim = `const start = async (module, argv, env) => {
	const go = new Go();
	Object.assign(go, {argv, env});
	go.run(await WebAssembly.instantiate(module, go.importObject));
};
`

// kill starts a victim, waits until it has begun so many operations and then a
// while, and ends it. It reports whether that was inside an operation.
func (m *murderer) kill(in, dir string, seed, after int, while time.Duration) (inside bool) {
	m.t.Helper()
	s, err := m.scope.Child()
	must(m.t, err)
	defer s.Close()
	said := make(chan string, 4096)
	ch, err := jsx.NewGlobal("BroadcastChannel", "victim of "+dir)
	must(m.t, err)
	_, err = s.Listen(ch, "message", func(e jsx.Value) {
		text, _ := web.StringOf(e, "data")
		select {
		case said <- text:
		default:
		}
	})
	must(m.t, err)
	defer jsx.Call(ch, "close")
	argv := []any{"victim", "-test.run=^TestKilledInBrowser$"}
	env := map[string]any{"FSACCESS_VICTIM": dir, "FSACCESS_SEED": fmt.Sprint(seed)}
	end := m.start(in, argv, env)
	began := 0
	limit := time.After(until.Patience)
	for began < after {
		select {
		case s := <-said:
			if s == "begin" {
				began++
			}
		case <-limit:
			end()
			m.t.Fatalf("the victim in a %s does nothing", in)
		}
	}
	until.Passed(while) // where it dies is random
	end()
	last := "begin"
	for {
		select {
		case last = <-said:
			continue
		default:
		}
		return last == "begin"
	}
}

func (m *murderer) start(in string, argv []any, env map[string]any) (end func()) {
	if in == "worker" {
		code := fmt.Sprintf("importScripts(%q);\n%sonmessage = (e) => start(e.data.module, e.data.argv, e.data.env);\n", m.exec, startVictim)
		blob, err := jsx.NewGlobal("Blob", []any{code}, map[string]any{"type": "text/javascript"})
		must(m.t, err)
		class, err := jsx.Lookup(jsx.Global(), "URL")
		must(m.t, err)
		address, err := jsx.Call(class, "createObjectURL", blob)
		must(m.t, err)
		w, err := jsx.NewGlobal("Worker", address)
		must(m.t, err)
		_, err = jsx.Call(w, "postMessage", map[string]any{"module": m.module, "argv": argv, "env": env})
		must(m.t, err)
		return func() {
			_, _ = jsx.Call(w, "terminate")
			_, _ = jsx.Call(class, "revokeObjectURL", address)
		}
	}
	doc, err := jsx.Lookup(jsx.Global(), "document")
	must(m.t, err)
	el, err := jsx.Call(doc, "createElement", "iframe")
	must(m.t, err)
	list, err := jsx.ToJS(argv)
	must(m.t, err)
	vars, err := jsx.ToJS(env)
	must(m.t, err)
	must(m.t, errors.Join(jsx.Set(el, "argv", list), jsx.Set(el, "env", vars), jsx.Set(el, "srcdoc", fmt.Sprintf(
		"<script src=%q></script><script>%sconst el = frameElement; start(parent.victimModule, el.argv, el.env);</script>", m.exec, startVictim))))
	body, err := jsx.Get(doc, "body")
	must(m.t, err)
	_, err = jsx.Call(body, "append", el)
	must(m.t, err)
	return func() { _, _ = jsx.Call(el, "remove") }
}
