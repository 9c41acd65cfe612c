package examples

import (
	"context"
	"fmt"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// held is the counts of a page, beside its browser's.
type held struct {
	browser.Counts
	funcs int // js.Func of the program
	// shown is the number of nodes in the document. Counts.Nodes also includes those that the
	// program's own collection, which cannot be triggered from outside, has not released yet. So
	// Counts.Nodes is only logged.
	shown int
}

// holding returns the counts of the page after a garbage collection.
func holding(t *testing.T, ctx context.Context, p *e2e.Page) held {
	t.Helper()
	c, err := p.Count(ctx)
	must(t, err)
	type object struct {
		ID    string `json:"objectId"`
		Value int    `json:"value"`
	}
	var proto, n struct {
		Result object `json:"result"`
	}
	var all struct {
		Objects object `json:"objects"`
	}
	must(t, p.CDP(ctx, "Runtime.evaluate", map[string]any{"expression": "Function.prototype", "objectGroup": "held"}, &proto))
	must(t, p.CDP(ctx, "Runtime.queryObjects", map[string]any{"prototypeObjectId": proto.Result.ID, "objectGroup": "held"}, &all))
	// Go's wasm_exec.js makes one such function for each js.Func.
	must(t, p.CDP(ctx, "Runtime.callFunctionOn", map[string]any{"objectId": all.Objects.ID, "returnByValue": true,
		"functionDeclaration": `function () { return this.filter((f) => typeof f === "function" && /_pendingEvent\s*=\s*event/.test(Function.prototype.toString.call(f))).length; }`}, &n))
	must(t, p.CDP(ctx, "Runtime.releaseObjectGroup", map[string]any{"objectGroup": "held"}, nil))
	if n.Result.Value < 10 {
		t.Fatalf("%d functions of the program were found: the page has changed, or what looks for them is wrong", n.Result.Value)
	}
	var shown int
	must(t, p.Eval(ctx, `(() => { const walk = document.createTreeWalker(document, NodeFilter.SHOW_ALL); let n = 0; while (walk.nextNode()) n++; return n; })()`, &shown))
	return held{c, n.Result.Value, shown}
}

// After rounds of use the page's counts are as before. Lists with a limit, such as tabs, changes
// and open conversations, are filled to the limit first.
func TestFilesHolds(t *testing.T) {
	t.Parallel()
	long(t)
	b := launchOwn(t, e2e.Options{})
	f, p := wholeFilesIn(t, b)
	f.round(0)
	for range 25 {
		f.click("#redo")
		f.wait("done again", `document.getElementById("status").textContent.startsWith("Did it again") && !document.getElementById("undo").disabled`)
		f.click("#undo")
		f.wait("taken back", `document.getElementById("status").textContent.startsWith("Took back") && !document.getElementById("redo").disabled`)
		f.then(turn{text: "Yes."})
		f.say("another one") // an empty conversation would be the next one too
		f.rested()
		f.another()
	}
	if n := f.check(`document.querySelectorAll("#sessions .chat").length`); n != "20" {
		t.Errorf("%s tabs of 27 conversations, want 20", n)
	}
	if n := f.check(`document.querySelectorAll("#history li").length`); n != "51" {
		t.Errorf("%s rows of changes, want 50 and one for older ones", n)
	}
	for i := range 4 { // as many conversations as stay open
		f.round(i)
	}
	// Of all conversations only those with a tab are read. Reading every one in each round would
	// take longer and more memory with each.
	f.check(`(() => {
		const {getAll, getAllKeys} = IDBObjectStore.prototype;
		globalThis.readAll = 0;
		IDBObjectStore.prototype.getAll = function (...args) { if (this.name === "sessions") readAll++; return getAll.apply(this, args); };
		IDBObjectStore.prototype.getAllKeys = function (...args) { if (this.name === "sessions") readAll++; return getAllKeys.apply(this, args); };
	})()`)
	before := holding(t, t.Context(), p)
	for i := range 6 {
		f.round(i)
	}
	if n := f.check(`readAll`); n != "0" {
		t.Errorf("all conversations were read %s times in six rounds", n)
	}
	after := held{}
	poll.Until(t, "it holds no more than before", func() bool { // frames close, and garbage goes, in their own time
		after = holding(t, t.Context(), p)
		return after.funcs <= before.funcs && after.Listeners <= before.Listeners && after.Documents <= before.Documents &&
			after.Frames <= before.Frames && after.Workers <= before.Workers && after.shown <= before.shown
	}, func() string { return fmt.Sprintf("it held %+v, and after six rounds %+v", before, after) })
	t.Logf("%+v, then %+v", before, after)
	f.click("#history [name=older]")
	f.wait("older changes", `document.querySelectorAll("#history li").length > 60 && !document.querySelector("#history [name=older]")`)
}
