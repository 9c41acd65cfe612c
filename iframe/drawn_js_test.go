package iframe

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
)

// inDocument returns what an expression is in the frame of a document. Only Chromium lets a test look there.
func inDocument(t *testing.T, expression string) string {
	t.Helper()
	for _, v := range testpage.EvalFrames(t, `document.getElementById('css') ? String(`+expression+`) : ''`) {
		var s string
		if v.Err == "" && json.Unmarshal(v.Value, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

func chromiumOnly(t *testing.T) {
	t.Helper()
	if testpage.Has(testpage.FramesOnThePagesThread) {
		t.Skip("only Chromium lets a test look into a sandboxed frame")
	}
}

func drawing(t *testing.T, f func(context.Context, markdown.Source) (markdown.Drawing, error)) *markdown.Renderer {
	t.Helper()
	return must(markdown.New(markdown.Options{}.Draw(f)))(t)
}

// Formulas and diagrams of a renderer that wants to stop the frame: nested as deep and as wide as the check permits.
func TestAttackDrawnBombs(t *testing.T) {
	a := attack.Start(t, "drawn")
	nest := func(n int, open, in, end string) string {
		return strings.Repeat(open, n) + in + strings.Repeat(end, n)
	}
	math := func(s string) markdown.Drawing { return markdown.Drawing{MathML: "<math>" + s + "</math>"} }
	svg := func(s string) markdown.Drawing {
		return markdown.Drawing{SVG: `<svg viewBox="0 0 4000 4000"><defs><marker id="m" markerWidth="9" markerHeight="9"><circle r="99999" fill="#f00"/></marker></defs>` + s + `</svg>`}
	}
	for name, d := range map[string]markdown.Drawing{
		"stretchy operators":  math(nest(56, "<mrow><mo stretchy=\"true\">(</mo>", "<mi>x</mi>", "<mo stretchy=\"true\">)</mo></mrow>")),
		"fractions":           math(nest(56, "<mfrac><mi>x</mi>", "<mi>x</mi>", "</mfrac>")),
		"large fractions":     math(nest(28, `<mstyle displaystyle="true" scriptlevel="0"><mfrac><mo stretchy="true" minsize="5em">(</mo>`, "<mi>x</mi>", "</mfrac></mstyle>")),
		"under and over":      math(nest(56, "<munderover><mo stretchy=\"true\">⏞</mo><mo stretchy=\"true\">⏟</mo>", "<mi>x</mi>", "</munderover>")),
		"roots":               math(nest(56, "<msqrt>", "<mi>x</mi>", "</msqrt>")),
		"tables in tables":    math(nest(19, "<mtable><mtr><mtd>", "<mi>x</mi>", "</mtd></mtr></mtable>")),
		"wide tables":         math(nest(18, "<mtable><mtr><mtd><mi>a</mi></mtd><mtd columnspan=\"20\" rowspan=\"20\">", "<mi>x</mi>", "</mtd></mtr></mtable>")),
		"scripts":             math(nest(56, "<msubsup><mi>x</mi><mi>y</mi>", "<mi>x</mi>", "</msubsup>")),
		"multiscripts":        math(nest(50, "<mmultiscripts><mi>x</mi><mi>y</mi>", "<mi>z</mi>", "<mprescripts></mprescripts><mi>y</mi><mi>y</mi></mmultiscripts>")),
		"rows":                math("<mtable rowspacing=\"4em\">" + strings.Repeat("<mtr><mtd></mtd></mtr>", 1490) + "</mtable>"),
		"operators":           math("<mrow>" + strings.Repeat(`<mo minsize="5em" stretchy="true">(</mo>`, 2990) + "</mrow>"),
		"one long token":      math("<mtext>" + strings.Repeat("x ", 120<<10) + "</mtext>"),
		"markers":             svg(strings.Repeat(`<polyline marker-mid="url(#m)" marker-end="url(#m)" points="`+strings.Repeat("1 1 99 99 ", 200)+`"/>`, 50)),
		"circles":             svg(strings.Repeat(`<circle r="99999"/>`, 2900)),
		"nested scales":       svg(nest(28, `<g transform="scale(99999) rotate(1)">`, `<rect width="9" height="9"/>`, "</g>")),
		"large letters":       svg(strings.Repeat(`<text font-size="99999">x</text>`, 2900)),
		"dashes":              svg(strings.Repeat(`<line x2="99999" y2="99999" stroke="#000" stroke-dasharray="0.01 0.01"/>`, 500)),
		"a path of many arcs": svg(`<path d="M0 0` + strings.Repeat("A9 9 0 1 1 99 99", 7000) + `"/>`),
	} {
		var st states
		doc := must(NewDocument(t.Context(), place(t), DocumentOptions{Renderer: drawing(t, func(context.Context, markdown.Source) (markdown.Drawing, error) { return d, nil }), Heartbeat: time.Minute, OnState: st.add}))(t)
		start := time.Now()
		s := doc.Section("a")
		write(t, s, "```mermaid\na\n```\n\nThe end of it.\n")
		_ = s.Close()
		until.True(t, name+" is drawn", func() bool { return strings.Contains(s.HTML(), "<figure>") && !s.stream.Drawing() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := doc.Flush(ctx)
		cancel()
		if !testpage.Has(testpage.FramesOnThePagesThread) && d.SVG != "" {
			until.True(t, name+" is painted", func() bool {
				return inDocument(t, `document.querySelector('img')?.complete && (requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.painted = 1; })), globalThis.painted)`) == "1"
			})
		}
		lost := err != nil || st.count(StateLost) > 0
		a.Try(name, lost)
		if lost {
			t.Errorf("%s: %v, %d frames lost", name, err, st.count(StateLost))
		}
		t.Logf("%-20s %6d ms, %d px", name, time.Since(start).Milliseconds(), doc.Height())
		_ = doc.Close()
	}
	a.NoSwitch("the limits of depth, elements and sizes are tested one by one in package markdown")
}

// sampler records in the frame what may not happen while an answer streams: after each change and in each painted frame.
const sampler = `(() => {
	const root = document.getElementById('root'), count = (s) => root.querySelectorAll(s).length;
	const state = { found: [], frames: 0, changes: 0 };
	let last = { hl: 0, math: 0, formulas: 0, height: 0 };
	const look = () => {
		const now = { hl: count('pre span'), math: count('math'), formulas: count('math, .bailey-tex'), height: root.getBoundingClientRect().height };
		const busy = count('section[aria-busy=true]') > 0;
		if (now.hl < last.hl && count('pre span') === 0) state.found.push('colours fell back to plain text');
		if (now.math < last.math) state.found.push('a formula became text again');
		if (now.formulas < last.formulas) state.found.push('an unfinished formula was shown as one');
		// A formula may be lower than its TeX, whose place it takes once.
		if (busy && now.math <= last.math && now.height < last.height - 1) state.found.push('the height fell from ' + last.height + ' to ' + now.height);
		last = now;
	};
	new MutationObserver(() => { state.changes++; look(); }).observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
	const frame = () => { state.frames++; look(); requestAnimationFrame(frame); };
	requestAnimationFrame(frame);
	globalThis.flicker = state;
	return 'on';
})()`

// While an answer streams, colours stay, formulas are text until they end, and the height does not fall but where a
// formula takes the place of its TeX.
func TestNothingFlickers(t *testing.T) {
	chromiumOnly(t)
	var drawn atomic.Int32
	r := drawing(t, func(_ context.Context, s markdown.Source) (markdown.Drawing, error) {
		until.Turns(int(drawn.Add(1)) % 7) // drawings come late, and in another order
		if s.Lang == "math" {
			return markdown.Drawing{MathML: "<math><mfrac><mi>x</mi><mi>y</mi></mfrac></math>"}, nil
		}
		var spans []markdown.Span
		for i, word := range strings.SplitAfter(s.Text, " ") {
			spans = append(spans, markdown.Span{Class: []string{"keyword", ""}[i%2], Text: word})
		}
		return markdown.Drawing{Spans: spans}, nil
	})
	d := open(t, DocumentOptions{Renderer: r})
	until.True(t, "the sampler runs", func() bool { return inDocument(t, sampler) == "on" })
	s := d.Section("a")
	var text strings.Builder
	for i := range 4 {
		fmt.Fprintf(&text, "So $\\frac{a}{b_%d}$ is a formula, and \\(x^2_{%d}\\) too, but $%d and $6 are money.\n\n$$\n\\sum_{i=%d}^n \\frac{1}{i}\n$$\n\n", i, i, i, i)
		text.WriteString("```go\n")
		for j := range 12 {
			fmt.Fprintf(&text, "\tif value_%d > %d { return \"a string of it\", nil } // because\n", j, i)
		}
		text.WriteString("```\n\n- a list with $y_" + strconv.Itoa(i) + "$ in it\n\n  ```sh\n  make all of it -j4\n  make test\n  ```\n\n")
	}
	whole := text.String()
	for at := 0; at < len(whole); {
		n := min(len(whole), at+1+at%23)
		write(t, s, whole[at:n])
		at = n
		if err := d.Flush(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Close()
	until.True(t, "all is drawn", func() bool { return d.Flush(testContext(t)) == nil && !s.stream.Drawing() })
	type report struct {
		Found           []string
		Frames, Changes int
	}
	read := func() (r report) {
		if err := json.Unmarshal([]byte(inDocument(t, "JSON.stringify(globalThis.flicker)")), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	got := read()
	if len(got.Found) > 0 || got.Changes < 100 || got.Frames < 10 || drawn.Load() < 20 {
		t.Errorf("%d changes, %d frames, %d drawings: %q", got.Changes, got.Frames, drawn.Load(), got.Found)
	}
	t.Logf("%d changes, %d frames, %d drawings", got.Changes, got.Frames, drawn.Load())
	// The sampler sees colours and formulas that go.
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	write(t, s, "a")
	if err := d.Flush(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := read(); len(got.Found) < 3 {
		t.Errorf("after a reset it found %q", got.Found)
	}
}

// Content above MaxHeight scrolls in the frame, and its end stays in view until the user scrolls up.
func TestEndStaysInView(t *testing.T) {
	chromiumOnly(t)
	d := open(t, DocumentOptions{MaxHeight: 300})
	s := d.Section("a")
	more := func() {
		t.Helper()
		write(t, s, "Another line of it.\n\n")
		if err := d.Flush(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	const rest = "Math.round(document.documentElement.scrollHeight - document.documentElement.clientHeight - document.documentElement.scrollTop)"
	for range 30 {
		more()
	}
	until.True(t, "the end is in view", func() bool {
		more()
		return inDocument(t, rest) == "0" && inDocument(t, "document.documentElement.scrollTop > 100") == "true"
	})
	for range 20 {
		if more(); inDocument(t, rest) != "0" {
			t.Fatalf("the end is %s px below", inDocument(t, rest))
		}
	}
	inDocument(t, "document.documentElement.scrollTop = 50")
	for range 5 {
		more()
	}
	if at := inDocument(t, "Math.round(document.documentElement.scrollTop)"); at != "50" {
		t.Errorf("the user reads at 50 px, and the view went to %s", at)
	}
}

// Code has a button that opens it as a file if the app can do that. Its text is the host's.
func TestOpenAsFile(t *testing.T) {
	chromiumOnly(t)
	const click = `(document.querySelector('button[data-ui=open]')?.click(), document.querySelectorAll('pre button').length)`
	opened := make(chan string, 1)
	for _, c := range []struct {
		open    func(context.Context, string, string) error
		buttons string
	}{
		{nil, "3"},
		{func(_ context.Context, name, text string) error { opened <- name + "|" + text; return nil }, "4"},
	} {
		d := open(t, DocumentOptions{OnOpen: c.open})
		s := d.Section("a")
		write(t, s, "```go\npackage a\n\nfunc b() {}\n```\n")
		_ = s.Close()
		if err := d.Flush(testContext(t)); err != nil {
			t.Fatal(err)
		}
		if got := inDocument(t, click); got != c.buttons {
			t.Errorf("%s buttons, want %s", got, c.buttons)
		}
		if c.open != nil {
			if got := <-opened; got != "code.go|package a\n\nfunc b() {}" {
				t.Errorf("%q", got)
			}
			until.True(t, "the button tells it", func() bool {
				return inDocument(t, `document.querySelector('button[data-ui=open]').textContent`) == "Opened"
			})
		}
		_ = d.Close()
	}
}
