package iframe

import (
	"context"
	"errors"
	"html"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/internal/wire/document"
)

// harness is the strictest policy with which the tests themselves run.
const harness = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' HASHES; connect-src 'self'; img-src data:"

func policy(hashes ...string) map[string]string {
	return map[string]string{"Content-Security-Policy": strings.Replace(harness, "HASHES", strings.Join(hashes, " "), 1)}
}

func TestStrictPageThatListsTheScripts(t *testing.T) {
	headers := policy(ScriptHashes()...)
	headers["Content-Security-Policy"] += "; require-trusted-types-for 'script'; trusted-types bailey"
	testpage.Run(t, testpage.Page{Header: headers}, func(t *testing.T) {
		d := open(t, DocumentOptions{})
		write(t, d.Section("a"), strings.Repeat("shown\n\n", 10))
		flush(t, d)
		if d.Height() < 100 {
			t.Errorf("height %d: nothing is shown", d.Height())
		}
	})
}

func TestPageThatForbidsTheScripts(t *testing.T) {
	testpage.Run(t, testpage.Page{Header: policy()}, func(t *testing.T) {
		start := time.Now()
		_, err := NewDocument(testContext(t), place(t), DocumentOptions{ReadyTimeout: 15 * time.Second})
		if !errors.Is(err, ErrFrameBlocked) {
			t.Fatalf("want ErrFrameBlocked, got %v", err)
		}
		for _, h := range ScriptHashes() {
			if !strings.Contains(err.Error(), h) {
				t.Errorf("the error does not name %s: %v", h, err)
			}
		}
		t.Logf("said after %v", time.Since(start))
	})
}

func TestPageThatForbidsThePolicyName(t *testing.T) {
	headers := policy(ScriptHashes()...)
	headers["Content-Security-Policy"] += "; require-trusted-types-for 'script'; trusted-types other"
	testpage.Run(t, testpage.Page{Header: headers}, func(t *testing.T) {
		if tt := must(jsx.Get(jsx.Global(), "trustedTypes"))(t); jsx.Nullish(tt) {
			t.Skip("this engine has no Trusted Types")
		}
		_, err := NewDocument(testContext(t), place(t), DocumentOptions{})
		if err == nil || !strings.Contains(err.Error(), "trusted-types") {
			t.Errorf("want an error that names trusted-types, got %v", err)
		}
		d, err := NewDocument(testContext(t), place(t), DocumentOptions{TrustedTypesPolicy: "other"})
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
	})
}

// thief is a frame that posts a hello before the document's own frame can, with a port of its
// own, and records the messages on it. It posts repeatedly, because it can't know when the host
// begins to listen.
const thief = `<script>
let got = [];
const say = () => {
  const c = new MessageChannel();
  c.port1.onmessage = (e) => { got.push(String(e.data)); parent.postMessage('stolen', '*'); };
  parent.postMessage('` + document.Hello + `', '*', [c.port2]);
};
const timer = setInterval(say, 1);
addEventListener('message', () => clearInterval(timer));
</script>`

func TestSiblingThatSpeaksFirst(t *testing.T) {
	for _, c := range []struct {
		name  string
		check bool
	}{{"check on", true}, {"check off", false}} {
		t.Run(c.name, func(t *testing.T) {
			trustAnySource = !c.check
			defer func() { trustAnySource = false }()
			scope := jsx.NewScope(jsx.ScopeOptions{})
			defer scope.Close()
			stolen := make(chan struct{}, 1000)
			ctx, cancel := context.WithTimeout(t.Context(), until.Patience)
			defer cancel()
			_, err := scope.Listen(jsx.Global(), "message", func(e jsx.Value) {
				if data, err := jsx.Get(e, "data"); err == nil && isString(data, "stolen") {
					stolen <- struct{}{} //blocklint:ok buffered for more than the thief can say
					if !c.check {
						cancel() // the document that took the thief's port never starts
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			sibling := element(t, "iframe", map[string]string{"sandbox": "allow-scripts", "srcdoc": thief})
			loaded := make(chan struct{})
			if _, err := scope.Listen(sibling, "load", func(jsx.Value) { close(loaded) }); err != nil {
				t.Fatal(err)
			}
			select {
			case <-loaded:
			case <-time.After(until.Patience):
				t.Fatal("the sibling never loaded")
			}
			d, err := NewDocument(ctx, place(t), DocumentOptions{})
			if err == nil {
				defer d.Close()
				write(t, d.Section("a"), "a secret")
				_ = d.Flush(ctx)
			}
			if c.check {
				if err != nil {
					t.Fatalf("the thief kept the document from starting: %v", err)
				}
				if len(stolen) > 0 {
					t.Errorf("the sibling was told %d things", len(stolen))
				}
				return
			}
			if len(stolen) == 0 {
				t.Errorf("with the check off the sibling should have been told something: this test shows nothing")
			}
		})
	}
}

// Orders that a sibling posts to the inner frame's window have no effect, because the frame has
// no listener there.
func TestSiblingThatGivesOrders(t *testing.T) {
	d := open(t, DocumentOptions{})
	write(t, d.Section("a"), "one line")
	flush(t, d)
	h := d.Height()
	attacker := `<script>
	const order = JSON.stringify([99, ["set", "a", 7, null, "<h1>forged</h1>".repeat(50)]]);
	for (const f of [parent.frames[0], parent.frames[0][0]]) for (const m of [order, {data: order}, "` + document.Hello + `"])
		try { const c = new MessageChannel(); f.postMessage(m, '*', [c.port1]); } catch (e) {}
	parent.postMessage('done', '*');
	</script>`
	scope := jsx.NewScope(jsx.ScopeOptions{})
	defer scope.Close()
	done := make(chan struct{}, 1)
	if _, err := scope.Listen(jsx.Global(), "message", func(e jsx.Value) {
		if data, err := jsx.Get(e, "data"); err == nil && isString(data, "done") {
			done <- struct{}{} //blocklint:ok buffered; said once
		}
	}); err != nil {
		t.Fatal(err)
	}
	element(t, "iframe", map[string]string{"sandbox": "allow-scripts", "srcdoc": attacker})
	<-done
	until.Turns(20)
	flush(t, d)
	if d.Height() != h {
		t.Errorf("height %d, %d before: the forged order was followed", d.Height(), h)
	}
}

// An inner frame of an enclave waits for its programs. It ignores programs from a sibling that
// posts before the parent does. With the check off it accepts them.
func TestSiblingThatGivesPrograms(t *testing.T) {
	text := ""
	for _, s := range frame.Scripts() {
		if s.Name() == "enclave.js" {
			text = s.Text()
		}
	}
	unchecked := strings.Replace(text, "e.source !== around || ", "", 1)
	if unchecked == text {
		t.Fatal("the check is not where this test looks for it")
	}
	for _, c := range []struct {
		name, script string
		taken        bool
	}{{"check on", text, false}, {"check off", unchecked, true}} {
		t.Run(c.name, func(t *testing.T) {
			scope := jsx.NewScope(jsx.ScopeOptions{})
			defer scope.Close()
			said := make(chan string, 100)
			if _, err := scope.Listen(jsx.Global(), "message", func(e jsx.Value) {
				if word, err := jsx.GetString(e, "data", 200); err == nil {
					said <- word //blocklint:ok buffered; each is said a few times
				}
			}); err != nil {
				t.Fatal(err)
			}
			// The parent passes on messages of the inner frame's control port, but no programs.
			around := `<script>addEventListener('message', (e) => { if (e.ports[0]) e.ports[0].onmessage = (m) => parent.postMessage('control ' + m.data, '*'); });</script>` +
				`<iframe sandbox="allow-scripts" srcdoc="` + html.EscapeString(`<!doctype html><script>`+c.script+`</script>`) + `"></iframe>`
			element(t, "iframe", map[string]string{"sandbox": "allow-scripts", "srcdoc": around})
			sibling := `<script>
			const broker = new Blob(["throw new Error('forged')"], {type: 'text/javascript'});
			let n = 0;
			const timer = setInterval(() => {
				for (let i = 0; i < parent.frames.length; i++) for (let j = 0; j < parent.frames[i].length; j++) {
					parent.frames[i][j].postMessage({broker, runtime: broker, policyName: 'x', config: '{}'}, '*');
					n++;
				}
				if (n > 40) clearInterval(timer), parent.postMessage('posted', '*');
			}, 10);
			</script>`
			element(t, "iframe", map[string]string{"sandbox": "allow-scripts", "srcdoc": sibling})
			posted, taken := false, false
			timeout := time.After(until.Patience)
			for late := (<-chan time.Time)(nil); ; {
				select {
				case w := <-said:
					taken = taken || strings.Contains(w, "forged")
					if w == "posted" && !posted {
						posted, late = true, time.After(time.Second)
					}
					if !taken || !posted {
						continue
					}
				case <-late:
				case <-timeout:
				}
				break
			}
			if !posted || taken != c.taken {
				t.Errorf("posted %v, taken %v; want %v", posted, taken, c.taken)
			}
		})
	}
}

// Killing the process of the frames has the same effect as running out of memory in another
// frame.
func TestDocumentOutlivesItsProcess(t *testing.T) {
	if testpage.Has(testpage.NoDebuggerCommands) {
		t.Skipf("%s has no command that kills the process of a frame; TestDocumentIsRebuilt covers the rebuilding", testpage.Engine())
	}
	var st states
	// On a loaded machine the process needs a while for the debugger. It must not count as lost before it is killed.
	d := open(t, DocumentOptions{OnState: st.add, Heartbeat: time.Second})
	write(t, d.Section("a"), strings.Repeat("kept\n\n", 20))
	flush(t, d)
	h := d.Height()
	killed := 0
	for _, target := range testpage.Targets(t) {
		if target.Type == "iframe" {
			testpage.Crash(t, target)
			killed++
			break
		}
	}
	if killed == 0 {
		t.Fatal("the document has no process of its own to kill: its frames are not isolated")
	}
	eventually(t, "a new frame", func() bool { return st.count(StateRebuilt) >= 1 })
	flush(t, d)
	if d.Height() != h {
		t.Errorf("height %d after the process died, %d before", d.Height(), h)
	}
}

func TestFrozenPageLosesNothing(t *testing.T) {
	if testpage.Has(testpage.NoDebuggerCommands) {
		t.Skipf("%s can't be told to freeze a page", testpage.Engine())
	}
	var st states
	d := open(t, DocumentOptions{OnState: st.add, Heartbeat: 100 * time.Millisecond})
	write(t, d.Section("a"), "before")
	flush(t, d)
	testpage.Freeze(t, 1500*time.Millisecond)
	write(t, d.Section("a"), " and after")
	flush(t, d)
	if n := st.count(StateLost); n != 0 {
		t.Errorf("the frame counted as lost %d times: the page was only frozen", n)
	}
}

// hidden reports whether the page is hidden.
func hidden() bool {
	doc, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return false
	}
	is, err := jsx.GetBool(doc, "hidden")
	return err == nil && is
}

func TestHiddenPageShowsTheLastToken(t *testing.T) {
	if testpage.Has(testpage.NoDebuggerCommands) {
		t.Skipf("%s can't be told to hide a page", testpage.Engine())
	}
	var st states
	d := open(t, DocumentOptions{OnState: st.add, Heartbeat: 100 * time.Millisecond})
	s := d.Section("a")
	go func() {
		until.Met(hidden)
		_, _ = s.WriteString(strings.Repeat("in the dark\n\n", 10) + "LAST")
		_ = s.Close()
	}()
	testpage.Hide(t, 4*time.Second)
	flush(t, d)
	if !strings.Contains(s.HTML(), "LAST") || d.Height() < 100 {
		t.Errorf("height %d", d.Height())
	}
	if n := st.count(StateLost); n != 0 {
		t.Errorf("the frame counted as lost %d times: the page was only hidden", n)
	}
}
