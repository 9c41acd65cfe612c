package btcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

// put adds an element with HTML of the test to the page, until the test ends.
func put(t *testing.T, id, html string) jsx.Value {
	t.Helper()
	run := func(v jsx.Value, err error) jsx.Value {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	document := run(jsx.Get(jsx.Global(), "document"))
	el := run(jsx.Call(document, "createElement", "div"))
	run(jsx.Call(el, "setAttribute", "id", id))
	run(jsx.Call(el, "insertAdjacentHTML", "beforeend", html))
	run(jsx.Call(run(jsx.Get(document, "body")), "append", el))
	t.Cleanup(func() { _, _ = jsx.Call(el, "remove") })
	return el
}

// inner returns the first element that matches.
func inner(t *testing.T, el jsx.Value, selector string) jsx.Value {
	t.Helper()
	v, err := jsx.Call(el, "querySelector", selector)
	if err != nil || jsx.Nullish(v) {
		t.Fatal(selector, err)
	}
	return v
}

// pageBox returns a box with the tools of a page, and the user who answers.
func pageBox(t *testing.T, p Page, user *sandboxtest.Asker) *sandbox.Box {
	t.Helper()
	rules, err := policy.Parse(`{"capabilities": {"dom.read": true, "dom.write": true, "storage.read": true, "storage.write": true, "clipboard.read": true, "clipboard.write": true}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := p.Tools()
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Options{Policy: rules, Ask: user, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func did(t *testing.T, box *sandbox.Box, tool string, args any) string {
	t.Helper()
	res := box.Call(t.Context(), tool, args)
	if err := res.Err(); err != nil {
		return string(protocol.CodeOf(err))
	}
	text, err := json.Marshal(res.Data)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type a = map[string]any

// Each tool does its work after a question that shows the whole effect, and nothing after a no.
func TestPageTools(t *testing.T) {
	root := put(t, "root", `<p id="a" class="k" data-x="1" nonce="secret">text <b>bold</b></p><textarea>typed</textarea><input id="i" value="typed" type="text"><h1>Old
title</h1>`)
	long := strings.Repeat("é", 60)
	if _, err := jsx.Call(root, "insertAdjacentHTML", "beforeend", `<p id="long">`+long+`</p>`); err != nil {
		t.Fatal(err)
	}
	user := sandboxtest.Always(policy.AnswerOnce)
	box := pageBox(t, Page{Root: "#root", MaxText: 50, Storage: "tools."}, user)
	for _, c := range []struct {
		tool       string
		args       any
		want, asks string // asks is the title and the content of the question
	}{
		{"dom_querySelector", a{"selector": "p"}, `{"attributes":{"class":"k","data-x":"1","id":"a"},"className":"k","id":"a","tagName":"P","textContent":"text bold"}`, "read the page at p|"},
		{"dom_querySelector", a{"selector": "textarea"}, `{"attributes":{},"className":"","id":"","tagName":"TEXTAREA","textContent":""}`, "read the page at textarea|"},
		{"dom_querySelector", a{"selector": "#i"}, `{"attributes":{"id":"i","type":"text"},"className":"","id":"i","tagName":"INPUT","textContent":""}`, "read the page at #i|"},
		{"dom_querySelector", a{"selector": "#long"}, `{"attributes":{"id":"long"},"className":"","id":"long","tagName":"P","textContent":"` + long[:100] + `"}`, "read the page at #long|"},
		{"dom_querySelector", a{"selector": "h2"}, `null`, "read the page at h2|"},
		{"dom_querySelector", a{"selector": "p["}, `INVALID_PARAMS`, `read the page at "p["|`},
		{"dom_querySelector", a{"selector": strings.Repeat("p", 1001)}, `INVALID_PARAMS`, ""},
		{"dom_observe", a{"selector": "h2", "seconds": 1.0}, `{"changed":false,"element":null}`, "watch the page for 1 s, and read the page at h2|"},
		{"dom_observe", a{"selector": "h2", "seconds": 61.0}, `INVALID_PARAMS`, "watch the page for 61 s, and read the page at h2|"},
		{"dom_setText", a{"selector": "h1", "from": "Old\ntitle", "to": "New"}, `{"changed":true}`, "change the text of the page at h1|-Old\n-title\n+New\n"},
		{"dom_querySelector", a{"selector": "h1"}, `{"attributes":{},"className":"","id":"","tagName":"H1","textContent":"New"}`, "read the page at h1|"},
		{"storage_get", a{"key": "k"}, `{"value":null}`, "read the stored value k|"},
		{"storage_set", a{"key": "k", "value": "one"}, `{"stored":true}`, "change the stored value k|+one\n"},
		{"storage_set", a{"key": "k", "value": "two"}, `{"stored":true}`, "change the stored value k|-one\n+two\n"},
		{"storage_get", a{"key": "k"}, `{"value":"two"}`, "read the stored value k|"},
		{"storage_set", a{"key": "k"}, `{"stored":false}`, "change the stored value k|-two\n"},
	} {
		before := len(user.Requests())
		if got := did(t, box, c.tool, c.args); got != c.want {
			t.Errorf("%s %.60v: %s, want %s", c.tool, c.args, got, c.want)
		}
		asked := ""
		for _, r := range user.Requests()[before:] {
			asked += r.Title + "|" + r.Diff
		}
		if asked != c.asks && c.asks != "" {
			t.Errorf("%s %.60v asks %q, want %q", c.tool, c.args, asked, c.asks)
		}
	}
	none := pageBox(t, Page{Root: "#root", Storage: "tools."}, &sandboxtest.Asker{})
	for tool, args := range map[string]any{"dom_querySelector": a{"selector": "p"}, "dom_observe": a{"selector": "p", "seconds": 1.0}, "dom_setText": a{"selector": "h1", "from": "New", "to": "x"},
		"storage_get": a{"key": "k"}, "storage_set": a{"key": "no", "value": "x"}, "clipboard_read": a{}, "clipboard_write": a{"text": "x"}} {
		if got := did(t, none, tool, args); got != string(protocol.ErrCapabilityDenied) {
			t.Errorf("%s after a no: %s", tool, got)
		}
	}
	if got := did(t, box, "dom_querySelector", a{"selector": "h1"}); !strings.Contains(got, "New") {
		t.Errorf("after a no the page has %s", got)
	}
	if _, ok, err := stored("tools.no"); ok || err != nil {
		t.Errorf("after a no something is stored: %v", err)
	}
	for _, bad := range []Page{{MaxText: -1}, {MaxText: 1_000_001}, {Storage: "a"}, {Storage: "a b"}} {
		if _, err := bad.Tools(); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// dom_observe ends as soon as the element has changed, and not because of a neighbour.
func TestPageObserves(t *testing.T) {
	root := put(t, "watched", `<p id="one">1</p><p id="two">2</p>`)
	p := Page{Root: "#watched", MaxText: 100}
	type seen struct {
		element any
		changed bool
		err     error
	}
	out := make(chan seen, 1)
	go func() {
		e, changed, err := p.changed(t.Context(), "#one")
		out <- seen{e, changed, err}
	}()
	set := func(selector, text string) {
		if err := jsx.Set(inner(t, root, selector), "textContent", text); err != nil {
			t.Fatal(err)
		}
	}
	until.Passed(50 * time.Millisecond) // it watches by then, or compares with the text that it finds
	set("#two", "another")
	until.Passed(50 * time.Millisecond)
	select {
	case s := <-out:
		t.Fatalf("it ended because of a neighbour: %+v", s)
	default:
	}
	set("#one", "changed")
	if s := <-out; s.err != nil || !s.changed || fmt.Sprint(s.element) != "map[attributes:map[id:one] className: id:one tagName:P textContent:changed]" {
		t.Errorf("%+v", s)
	}
}

// The clipboard of the page stands in for the computer's, which a browser without a window does not give.
func TestPageClipboard(t *testing.T) {
	nav, err := jsx.Get(jsx.Global(), "navigator")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jsx.Call(mustEval(t, `({set(n) { this.text = ""; Object.defineProperty(n, "clipboard", {configurable: true, value: {writeText: async (s) => { globalThis.copiedText = s }, readText: async () => globalThis.copiedText}}) }})`), "set", nav); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = jsx.Delete(nav, "clipboard") })
	user := sandboxtest.Always(policy.AnswerOnce)
	box := pageBox(t, Page{MaxText: 10}, user)
	if got := did(t, box, "clipboard_write", a{"text": "one\ntwo three four"}); got != `{"written":true}` {
		t.Error(got)
	}
	if got := did(t, box, "clipboard_read", a{}); got != `{"text":"one\ntwo th"}` {
		t.Error(got)
	}
	var asked []string
	for _, r := range user.Requests() {
		asked = append(asked, r.Title+"|"+r.Diff+"|"+string(r.Risk))
	}
	if got := strings.Join(asked, "; "); got != "change the clipboard|one\ntwo three four|medium; read the clipboard||high" {
		t.Errorf("%q", got)
	}
}

func mustEval(t *testing.T, code string) jsx.Value {
	t.Helper()
	f, err := jsx.NewGlobal("Function", "return "+code)
	if err == nil {
		f, err = jsx.Invoke(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Tools of a page read more than the question shows, change what the user acts on, run code, or fill the storage.
func TestAttackPage(t *testing.T) {
	count := attack.Start(t, "04")
	secret := put(t, "outside", `<p id="key" data-token="tok-7">outside text</p>`)
	_ = secret
	root := put(t, "inside", `<p id="p">text</p><div id="group"><input id="name" value="typed-by-user"><textarea id="t">typed too</textarea>
		<input type="checkbox" id="c"><select id="s"><option>a<option value="b">b</select><div id="e" contenteditable>my letter</div></div>
		<script id="empty" type="text/plain"></script><style id="css">p{}</style><script id="data" type="application/json">{"state":"private"}</script>
		<button id="go">Delete all</button><a id="link" href="#x">docs</a><label id="label">Keep</label><p id="nest">a<b>c</b></p><p id="lead">Pay 1</p><details><summary id="sum">More</summary></details><span id="role" role="button">OK</span>`)
	_ = jsx.Set(inner(t, root, "#name"), "value", "typed-by-user")
	_ = jsx.Set(inner(t, root, "#c"), "checked", true)
	_ = jsx.Set(inner(t, root, "#s"), "value", "b")
	user := sandboxtest.Always(policy.AnswerOnce)
	page := func(off pageOff) *sandbox.Box {
		return pageBox(t, Page{Root: "#inside", Storage: "tools.", off: off}, user)
	}
	on, live := page(pageOff{}), page(pageOff{copied: true})
	// A selector is a question about the page, which its answer answers.
	for _, selector := range []string{
		`input[value^="typed"]`, `input[value="typed-by-user"]`, `input:not(:placeholder-shown)[id]:not([type])[value]`, `#c:checked`, `option:checked[value="b"]`,
		`#outside ~ #inside #p`, `body:has([data-token^="tok"]) #p`, `html:has(#key) #p`,
	} {
		count.Try("found: "+selector, did(t, on, "dom_querySelector", a{"selector": selector}) != "null")
		count.Off("found: "+selector, did(t, live, "dom_querySelector", a{"selector": selector}) != "null")
	}
	for selector, text := range map[string]string{"#group": "typed too", "#e": "my letter", "#t": "typed too", "#data": "private"} {
		count.Try("read: "+selector, strings.Contains(did(t, on, "dom_querySelector", a{"selector": selector}), text))
		count.Off("read: "+selector, strings.Contains(did(t, live, "dom_querySelector", a{"selector": selector}), text))
	}
	for _, selector := range []string{"body", "html", "#outside", "#key", "#inside", ":root"} {
		count.Try("outside: "+selector, did(t, on, "dom_querySelector", a{"selector": selector}) != "null")
	}

	// Changes of elements whose words are no text, or are what the user decides by. Each element has its text again afterwards.
	changes := func(box *sandbox.Box, selector, from string) bool {
		el := inner(t, root, selector)
		html, err := jsx.GetString(el, "innerHTML", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			_, _ = jsx.Call(el, "replaceChildren")
			_, _ = jsx.Call(el, "insertAdjacentHTML", "beforeend", html)
		}()
		did(t, box, "dom_setText", a{"selector": selector, "from": from, "to": "changed"})
		now, err := jsx.GetString(el, "textContent", 0)
		return err != nil || now == "changed"
	}
	kinds, controls, stale := page(pageOff{kinds: true, controls: true}), page(pageOff{kinds: true, controls: true, copied: true}), page(pageOff{from: true})
	for _, c := range []struct {
		selector, from string
		off            *sandbox.Box
	}{
		{"#empty", "", kinds}, {"#css", "p{}", controls}, {"#go", "Delete all", kinds}, {"#link", "docs", kinds}, {"#label", "Keep", kinds}, {"#sum", "More", kinds}, {"#role", "OK", kinds},
		{"#e", "my letter", controls}, {"#t", "typed too", controls}, {"#nest", "ac", kinds}, {"#lead", "", stale}, {"#lead", "Pay 2", stale},
	} {
		count.Try("changed: "+c.selector+" from "+c.from, changes(on, c.selector, c.from))
		count.Off("changed: "+c.selector+" from "+c.from, changes(c.off, c.selector, c.from))
	}
	if !changes(on, "#lead", "Pay 1") {
		t.Error("a paragraph can't be changed")
	}
	for _, text := range []string{"a\x1b[201~rm", "a\rb", "a\x00b", "a\u009bb", "a\x7f", strings.Repeat("x", maxWrite+1)} {
		count.Try(fmt.Sprintf("clipboard: %.10q", text), strings.Contains(did(t, on, "clipboard_write", a{"text": text}), "true"))
	}
	did(t, on, "dom_setText", a{"selector": "#p", "from": "text", "to": "<img src=x onerror=1><script>1</script>"})
	n, _ := jsx.GetInt(inner(t, root, "#p"), "childElementCount")
	count.Try("markup", n != 0)

	// The app's own storage, and all of it.
	store, err := storage()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"settings", "tools.", "other"} {
		if _, err := jsx.Call(store, "setItem", key, "the app's"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = jsx.Call(store, "removeItem", key) })
	}
	anyKey := page(pageOff{prefix: true})
	for _, key := range []string{"settings", "other"} {
		count.Try("stored: "+key, strings.Contains(did(t, on, "storage_get", a{"key": key}), "the app"))
		count.Off("stored: "+key, strings.Contains(did(t, anyKey, "storage_get", a{"key": key}), "the app"))
	}
	for _, key := range []string{"", "../settings", "a b", "\x00settings", strings.Repeat("k", 101)} {
		count.Try(fmt.Sprintf("stored under %.10q", key), strings.Contains(did(t, on, "storage_set", a{"key": key, "value": "x"}), "true"))
	}
	fills := func(box *sandbox.Box) bool {
		value := strings.Repeat("v", 60_000)
		full := false
		for i := range 5 {
			full = strings.Contains(did(t, box, "storage_set", a{"key": fmt.Sprint("fill", i), "value": value}), "true")
		}
		for i := range 5 {
			_, _ = jsx.Call(store, "removeItem", fmt.Sprint("tools.fill", i))
		}
		return full
	}
	count.Try("fills the storage", fills(on))
	count.Off("fills the storage", fills(page(pageOff{quota: true})))
}
