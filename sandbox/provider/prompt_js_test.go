package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

// fakeModel has the interface of LanguageModel in the Prompt API. It checks its arguments like the
// browser, and answers according to told.
const fakeModel = `
const told = {state: "available", pieces: [], fail: "", hang: false, window: 9216, quota: undefined, log: [], live: 0, asked: []};
const core = (o) => {
	for (const k of ["expectedInputs", "expectedOutputs"])
		for (const x of o[k]) {
			if (x.type === "image" && k === "expectedInputs" && told.images !== "unknown") continue;
			if (x.type !== "text" || !Array.isArray(x.languages)) throw new TypeError(k);
		}
	return JSON.stringify([...o.expectedInputs, ...o.expectedOutputs].map((x) => [x.type, x.languages]));
};
const content = async (role, c, o) => {
	if (typeof c === "string") return c;
	if (role !== "user") throw new DOMException("only the user has images", "NotSupportedError");
	if (!o.expectedInputs.some((x) => x.type === "image")) throw new DOMException("images were not expected", "NotSupportedError");
	return Promise.all(c.map(async (x) => x.type === "image" ? x.value.type + " " + (await x.value.text()) : x.value));
};
class LanguageModel extends EventTarget {
	static #key = {};
	#usage = 7; #gone = false;
	constructor(key) { super(); if (key !== LanguageModel.#key) throw new TypeError("Illegal constructor"); }
	static async availability(o = {}) {
		told.asked.push(core(o));
		return o.expectedInputs.some((x) => x.type === "image") && told.images !== "taken" ? "unavailable" : told.state;
	}
	static async create(o = {}) {
		if (!told.asked.includes(core(o))) throw new TypeError("other options than availability was asked for");
		o.signal?.throwIfAborted();
		if (told.fail === "long") throw new DOMException("long", "QuotaExceededError");
		if (told.fail === "create") throw new DOMException("no", "NotAllowedError");
		for (const [i, p] of (o.initialPrompts ?? []).entries()) {
			if (!["system", "user", "assistant"].includes(p.role)) throw new TypeError("prompt");
			p.content = await content(p.role, p.content, o);
			if (p.role === "system" && i > 0) throw new TypeError("system comes first");
		}
		if (o.monitor) {
			const m = new EventTarget(); o.monitor(m);
			for (const loaded of [0, 0.5, 1]) m.dispatchEvent(new ProgressEvent("downloadprogress", {loaded, total: 1}));
		}
		told.log.push(JSON.stringify(o.initialPrompts ?? [])); told.live++;
		return new LanguageModel(LanguageModel.#key);
	}
	get contextUsage() { return this.#usage; }
	get contextWindow() { return told.window; }
	get inputQuota() { return told.quota; }
	promptStreaming(input, o = {}) {
		if (this.#gone) throw new DOMException("destroyed", "InvalidStateError");
		if (told.fail === "image" && typeof input !== "string") throw new DOMException("bad image", "EncodingError");
		if (typeof input !== "string") for (const m of input) for (const x of m.content) if (x.type === "image" && !(x.value instanceof Blob)) throw new TypeError("image");
		told.log.push(JSON.stringify([typeof input === "string" ? input : input.map((m) => [m.role, m.content.map((x) => x.value instanceof Blob ? x.value.type + " " + x.value.size : x.value)]), o.responseConstraint ?? null]));
		const pieces = [...told.pieces];
		return new ReadableStream({pull: (c) => {
			if (told.hang) return new Promise((_, no) => o.signal.addEventListener("abort", () => no(o.signal.reason)));
			if (told.fail === "stream") return c.error(new DOMException("full", "QuotaExceededError"));
			if (!pieces.length) { this.#usage += 5; return c.close(); }
			c.enqueue(pieces.shift());
		}});
	}
	destroy() { if (!this.#gone) told.live--; this.#gone = true; }
}
return {LanguageModel, told};`

// fake replaces the browser's LanguageModel, if there is one, by the fake.
func fake(t *testing.T) (told jsx.Value) {
	t.Helper()
	maker, err := jsx.NewGlobal("Function", fakeModel)
	must(t, err)
	made, err := jsx.Invoke(maker)
	must(t, err)
	class, err := jsx.Get(made, "LanguageModel")
	must(t, err)
	told, err = jsx.Get(made, "told")
	must(t, err)
	place(t, class)
	return told
}

func place(t *testing.T, class any) {
	t.Helper()
	object, err := jsx.Get(jsx.Global(), "Object")
	must(t, err)
	_, err = jsx.Call(object, "defineProperty", jsx.Global(), "LanguageModel", map[string]any{"value": class, "configurable": true, "writable": true})
	must(t, err)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func set(t *testing.T, told jsx.Value, name string, v any) {
	t.Helper()
	must(t, jsx.Set(told, name, v))
}

// play returns all events of a model as one line.
func play(ctx context.Context, m *provider.PromptAPI, r sandbox.ModelRequest) (string, error) {
	var out []string
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			return strings.Join(out, "|"), err
		}
		out = append(out, fmt.Sprintf("%s %s%s%s %d %d", e.Type, e.Tool, e.Text, e.Args, e.Usage.Input, e.Usage.Output))
	}
	return strings.Join(out, "|"), nil
}

func hello() sandbox.ModelRequest {
	return sandbox.ModelRequest{System: "be brief", Messages: []sandbox.ModelMessage{{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "hello"}}}}}
}

func live(t *testing.T, told jsx.Value) {
	t.Helper()
	if n, err := jsx.GetInt(told, "live"); err != nil || n != 0 {
		t.Errorf("%d sessions are left, %v", n, err)
	}
}

func TestPromptAPI(t *testing.T) {
	told := fake(t)
	set(t, told, "pieces", []any{"Hello ", "you"})
	got, err := play(t.Context(), &provider.PromptAPI{Languages: []string{"en", "de"}}, hello())
	if err != nil || got != "text Hello  0 0|text you 0 0|usage  7 5|finish stop 0 0" {
		t.Errorf("%s %v", got, err)
	}
	log, err := jsx.Get(told, "log")
	must(t, err)
	joined, err := jsx.Call(log, "join", " ")
	must(t, err)
	if text, _ := jsx.String(joined, 1<<20); text != `[{"content":"be brief","role":"system"}] ["hello",null]` && text != `[{"role":"system","content":"be brief"}] ["hello",null]` {
		t.Errorf("it was asked %s", text)
	}
	live(t, told)
	r := hello()
	r.Tools = []sandbox.ModelTool{{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object"}`)}}
	set(t, told, "pieces", []any{`{"text":"I look","to`, `ol":"read","args":{"path":"x"}}`})
	got, err = play(t.Context(), &provider.PromptAPI{}, r)
	if err != nil || got != `text I look 0 0|call-start read 0 0|call read{"path":"x"} 0 0|usage  7 5|finish tool-calls 0 0` {
		t.Errorf("%s %v", got, err)
	}
	live(t, told)
}

// The window is that of the last session. Before the first one, and if the browser tells none, it is
// that of Chrome's model.
func TestPromptAPIContext(t *testing.T) {
	told := fake(t)
	m := &provider.PromptAPI{}
	for _, c := range []struct {
		window, quota any
		want          int
	}{{4096, jsx.Undefined(), 4096}, {jsx.Undefined(), 6144, 6144}, {jsx.Undefined(), jsx.Undefined(), 6144}, {0, jsx.Undefined(), 6144}, {-1, jsx.Undefined(), 6144}, {"much", jsx.Undefined(), 6144}, {1e300, jsx.Undefined(), 1 << 30}} {
		set(t, told, "window", c.window)
		set(t, told, "quota", c.quota)
		if _, err := play(t.Context(), m, hello()); err != nil || m.ContextTokens() != c.want {
			t.Errorf("%v %v: %d, want %d, %v", c.window, c.quota, m.ContextTokens(), c.want, err)
		}
		live(t, told)
	}
	if n := (&provider.PromptAPI{}).ContextTokens(); n != 9216 {
		t.Errorf("before the first session: %d", n)
	}
}

func TestPromptAPIDownloads(t *testing.T) {
	told := fake(t)
	set(t, told, "state", "downloadable")
	if state, err := (&provider.PromptAPI{}).State(t.Context()); state != "downloadable" || err != nil {
		t.Errorf("%s %v", state, err)
	}
	if _, err := play(t.Context(), &provider.PromptAPI{}, hello()); err == nil || !strings.Contains(err.Error(), "PromptAPI.Download") {
		t.Errorf("%v", err)
	}
	var seen []float64
	set(t, told, "pieces", []any{"ok"})
	if got, err := play(t.Context(), &provider.PromptAPI{Download: true, Progress: func(d float64) { seen = append(seen, d) }}, hello()); err != nil || !strings.HasPrefix(got, "text ok") {
		t.Errorf("%s %v", got, err)
	}
	if fmt.Sprint(seen) != "[0 0.5 1]" {
		t.Errorf("told of %v", seen)
	}
	live(t, told)
}

// The browser's model gets images if it takes them, and a line for each in all other cases. An image that
// it can't read has the status by which the box leaves out the files.
func TestPromptAPIImages(t *testing.T) {
	image := func(name string) sandbox.ModelPart {
		return sandbox.ModelPart{Type: sandbox.PartFile, Files: []sandbox.File{{Name: name, MediaType: "image/png", Data: []byte("PNG")}}}
	}
	text := func(s string) sandbox.ModelPart { return sandbox.ModelPart{Type: sandbox.PartText, Text: s} }
	r := sandbox.ModelRequest{Messages: []sandbox.ModelMessage{
		{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{image("a.png"), text("look")}},
		{Role: sandbox.RoleAssistant, Parts: []sandbox.ModelPart{text("I see")}},
		{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{image("b.png"), text("and this")}}}}
	for _, c := range []struct {
		images string // of the browser's model
		sent   bool
	}{{"taken", true}, {"none", false}, {"unknown", false}} {
		told := fake(t)
		set(t, told, "images", c.images)
		set(t, told, "pieces", []any{"ok"})
		if got, err := play(t.Context(), &provider.PromptAPI{}, r); err != nil || !strings.HasPrefix(got, "text ok") {
			t.Errorf("%s: %s %v", c.images, got, err)
		}
		log, err := jsx.Get(told, "log")
		must(t, err)
		joined, err := jsx.Call(log, "join", " ")
		must(t, err)
		all, err := jsx.String(joined, 1<<20)
		must(t, err)
		if sent := strings.Contains(all, `["image/png PNG","look"]`) && strings.Contains(all, `[["user",["image/png 3","and this"]]]`); sent != c.sent || strings.Contains(all, "can't see it") == c.sent {
			t.Errorf("%s: it was asked %s", c.images, all)
		}
		live(t, told)
	}
	told := fake(t)
	set(t, told, "images", "taken")
	set(t, told, "fail", "image")
	_, err := play(t.Context(), &provider.PromptAPI{}, r)
	var me *sandbox.ModelError
	if !errors.As(err, &me) || me.Status != 415 || me.Retry {
		t.Errorf("%v", err)
	}
	live(t, told)
}

func TestPromptAPIFails(t *testing.T) {
	told := fake(t)
	for fail, want := range map[string]string{"create": "a click", "long": "longer than", "stream": "longer than"} {
		set(t, told, "fail", fail)
		_, err := play(t.Context(), &provider.PromptAPI{}, hello())
		var me *sandbox.ModelError
		if !errors.As(err, &me) || !strings.Contains(me.Message, want) || me.TooLong != (fail != "create") {
			t.Errorf("%s: %v", fail, err)
		}
		live(t, told)
	}
	set(t, told, "fail", "")
	set(t, told, "hang", true)
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	go stop(why)
	if _, err := play(ctx, &provider.PromptAPI{}, hello()); !errors.Is(err, why) {
		t.Errorf("stopped: %v", err)
	}
	live(t, told)
	// After the consumer has stopped, there are no further events, and no resources are left.
	set(t, told, "hang", false)
	set(t, told, "pieces", []any{"a", "b", "c"})
	for range (&provider.PromptAPI{}).Stream(t.Context(), hello()) {
		break
	}
	live(t, told)
}

func TestPromptAPIMissing(t *testing.T) {
	place(t, nil)
	if state, err := (&provider.PromptAPI{}).State(t.Context()); state != "missing" || err != nil {
		t.Errorf("%s %v", state, err)
	}
	if _, err := play(t.Context(), &provider.PromptAPI{}, hello()); err == nil || !strings.Contains(err.Error(), "LanguageModel") {
		t.Errorf("%v", err)
	}
}
