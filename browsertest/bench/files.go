package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// runFiles times the page of the files example, built and served as users do it, with a model that is
// served from loopback.
func runFiles(ctx context.Context, e *Env) ([]Row, error) {
	if err := e.start(ctx); err != nil {
		return nil, err
	}
	tool, dir := filepath.Join(e.dir, "wasm_exec"), filepath.Join(e.dir, "files")
	if err := e.goIn(ctx, e.Root, "build", "-o", tool, "./wasm_exec"); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, tool, "build", "-o", dir, "./examples/files")
	cmd.Dir = e.Root
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the files example: %w\n%s", err, msg)
	}
	var rows []Row
	if e.Wants("files.size") {
		size, err := transferred(dir)
		if err != nil {
			return nil, err
		}
		rows = append(rows, newRow("files.size", size/1e6, 3, "budget: 3.0 MB brotli in total, tools apart", "MB", 1))
	}
	if err := os.CopyFS(filepath.Join(dir, "tools"), os.DirFS(filepath.Join(e.Root, "build", "tools"))); err != nil && !os.IsExist(err) {
		fmt.Fprintln(os.Stderr, "bench: without the tools:", err)
	}
	e.mux.HandleFunc("/v1/chat/completions", longAnswer)
	use := fmt.Sprintf(`{"connect": [%q]}`, strings.TrimPrefix(e.origin, "http://"))
	if err := os.WriteFile(filepath.Join(dir, "headers.json"), []byte(use), 0o666); err != nil {
		return nil, err
	}
	origin, stop, err := serve(ctx, tool, dir)
	if err != nil {
		return nil, err
	}
	defer stop()
	s := samples{}
	for round := -1; round < e.Rounds(16); round++ {
		for name, script := range map[string]string{"painted": paintedAt, "interactive": interactiveAt} {
			if !e.Wants("files." + name) {
				continue
			}
			took, err := e.visit(ctx, origin+"/", script)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if round >= 0 {
				s[name] = append(s[name], took)
			}
		}
	}
	for name, budget := range map[string]float64{"painted": 300, "interactive": 1500} {
		if len(s[name]) > 0 {
			rows = append(rows, newRow("files."+name, s.median(name), budget, fmt.Sprintf("budget: %v ms from the navigation, on loopback", budget), "ms", 1))
		}
	}
	for _, m := range []struct {
		id  string
		run func(context.Context, *Env, string) ([]Row, error)
	}{{"files.stream.frames", streamFrames}, {"files.tree.50k.", treePaint}} {
		if !e.Wants(m.id) {
			continue
		}
		found, err := m.run(ctx, e, origin)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.id, err)
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// transferred returns the bytes that a first visit fetches: the page, its program and the files that both
// load, each in its smallest form. Of two files that differ only by the hash in their name, one counts.
func transferred(dir string) (float64, error) {
	var manifest map[string]any
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		return 0, err
	}
	var sum int64
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "tools" || name == "screenshots" {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") || name == "headers.json" || name == "manifest.json" || name == "bailey.mjs" {
			return nil
		}
		if parts := strings.Split(name, "."); len(parts) == 3 && len(parts[1]) == 16 && parts[0] == "bailey" {
			return nil // the same as bailey.js
		}
		st, err := os.Stat(at + ".br")
		if err != nil {
			st, err = os.Stat(at)
		}
		if err == nil {
			sum += st.Size()
		}
		return err
	})
	return float64(sum), err
}

// paintedAt is a script that returns the time of the first paint, which must be before the program was
// loaded.
const paintedAt = `new Promise((done, fail) => {
	new PerformanceObserver((list) => {
		for (const e of list.getEntriesByName("first-contentful-paint")) {
			const wasm = performance.getEntriesByType("resource").find((r) => r.name.endsWith(".wasm"));
			wasm && wasm.responseEnd < e.startTime ? fail(new Error("the program was loaded first")) : done(e.startTime);
		}
	}).observe({ type: "paint", buffered: true });
})`

const interactiveAt = `new Promise((done) => {
	const look = () => {
		const tour = document.getElementById("tour");
		tour && !tour.disabled ? done(performance.now()) : setTimeout(look, 2);
	};
	look();
})`

// longAnswer streams 20 KB of Markdown in pieces of 64 bytes.
func longAnswer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Headers", "authorization, content-type, accept")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if r.Method == http.MethodOptions {
		return
	}
	h.Set("Content-Type", "text/event-stream")
	paragraph := "## A part\n\nSome *text* with `code`, a [link](https://example.org) and words that go on for a while, as answers do.\n\n- one\n- two\n\n```go\nfunc main() { println(\"hello\") }\n```\n\n"
	text := strings.Repeat(paragraph, 20_000/len(paragraph)+1)[:20_000]
	for len(text) > 0 {
		n := min(64, len(text))
		b, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": text[:n]}}}})
		fmt.Fprintf(w, "data: %s\n\n", b)
		w.(http.Flusher).Flush()
		text = text[n:]
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// filesPage opens the page of the files example, with the model chosen.
func (e *Env) filesPage(ctx context.Context, origin string) (*browser.ChromiumPage, error) {
	opened, err := e.browser.Open(ctx, origin+"/", browser.Events{})
	if err != nil {
		return nil, err
	}
	page := opened.(*browser.ChromiumPage)
	ready := `(async () => { while (document.getElementById("tour")?.disabled !== false) await new Promise((done) => setTimeout(done, 20)); })()`
	settings, _ := json.Marshal(map[string]string{"provider": "local", "model": "m", "url": e.origin + "/v1", "origin": e.origin})
	for _, script := range []string{ready, fmt.Sprintf(`localStorage.setItem("bailey-files", %q)`, settings), `void setTimeout(() => location.reload())`} {
		if _, err := page.Eval(ctx, script); err != nil {
			return nil, err
		}
	}
	time.Sleep(time.Second)
	_, err = page.Eval(ctx, ready)
	return page, err
}

// streamFrames returns the percentage of frames that take at most 20 ms while an answer streams, and that
// of a page which only appends the same stream's text.
func streamFrames(ctx context.Context, e *Env, origin string) ([]Row, error) {
	e.mux.HandleFunc("/bare", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>bare</title><pre style='white-space: pre-wrap'></pre>")
	})
	all := map[string][]float64{}
	for range e.Rounds(6) {
		for _, m := range []struct {
			name, script string
			open         func() (browser.Page, error)
		}{
			{"ours", ourFrames, func() (browser.Page, error) { return e.filesPage(ctx, origin) }},
			{"floor", bareStream, func() (browser.Page, error) { return e.browser.Open(ctx, e.origin+"/bare", browser.Events{}) }},
		} {
			page, err := m.open()
			if err != nil {
				return nil, err
			}
			inner := func() ([]browser.FrameValue, error) { return nil, nil }
			if own, ok := page.(*browser.ChromiumPage); ok && m.name == "ours" {
				inner = func() ([]browser.FrameValue, error) {
					return own.EvalFrames(ctx, e.browser.(*browser.ChromiumBrowser), answerFrames)
				}
			}
			if _, err := inner(); err != nil {
				return nil, err
			}
			raw, err := page.Eval(ctx, m.script)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			values, err := inner()
			if err != nil {
				return nil, err
			}
			for _, v := range values {
				var took []float64
				if json.Unmarshal(v.Value, &took) == nil {
					all["answer"] = append(all["answer"], took...)
				}
			}
			var took []float64
			if err := json.Unmarshal(raw, &took); err != nil {
				return nil, err
			}
			all[m.name] = append(all[m.name], took...)
			page.Close()
		}
	}
	within := func(name string) float64 {
		good := 0
		for _, ms := range all[name] {
			if ms <= 20 {
				good++
			}
		}
		return 100 * float64(good) / float64(len(all[name]))
	}
	if n := min(len(all["ours"]), len(all["floor"]), len(all["answer"])); n < 50 {
		return nil, fmt.Errorf("%d frames only", n)
	}
	rows := []Row{
		newRow("files.stream.frames", within("ours"), 95, "budget: 95 % of frames within 20 ms while 20 KB stream, in a conversation that grows to 120 KB", "%", 1),
		newRow("files.stream.answer", within("answer"), 95, "budget: the same, counted in the frame that shows the answer, while something is to be painted there", "%", 1),
		newRow("files.stream.frames", within("ours"), within("floor"), "floor: a page that only appends the same stream's text", "%", 0),
	}
	for i := range rows {
		rows[i].HigherIsBetter = true
	}
	return rows, nil
}

const ourFrames = `(async () => {
	const text = document.getElementById("text");
	text.value = "tell me all";
	text.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
	const stop = document.getElementById("stop"), frame = () => new Promise((done) => requestAnimationFrame(done));
	while (stop.hidden) await frame();
	let last = await frame(), all = [];
	while (!stop.hidden) { const now = await frame(); all.push(now - last); last = now; }
	return all;
})()`

// answerFrames runs in the document's own frame, which may have a process of its own. The first time it
// begins to time the frames. The second time it returns the times of those in which the text had grown
// since the frame before.
const answerFrames = `(() => {
	const root = document.getElementById("root");
	if (!root?.dataset.policy) return null;
	if (globalThis.took) return took;
	globalThis.took = [];
	let grew = true, length = 0;
	(function count(last) {
		requestAnimationFrame((now) => {
			const size = root.textContent.length;
			if (grew) took.push(now - last);
			grew = size !== length;
			length = size;
			count(now);
		});
	})(performance.now());
	return null;
})()`

const bareStream = `(async () => {
	while (document.readyState !== "complete") await new Promise((done) => setTimeout(done, 5));
	const frame = () => new Promise((done) => requestAnimationFrame(done)), decoder = new TextDecoder(), out = document.querySelector("pre");
	const reader = (await fetch("/v1/chat/completions", { method: "POST", body: "{}" })).body.getReader();
	let ended = false, failed;
	(async () => {
		for (let rest = ""; ;) {
			const { done, value } = await reader.read();
			if (done) break;
			const lines = (rest + decoder.decode(value, { stream: true })).split("\n\n");
			rest = lines.pop();
			for (const line of lines) {
				if (line !== "data: [DONE]") out.append(JSON.parse(line.slice(6)).choices[0].delta.content ?? "");
			}
			scrollTo(0, document.body.scrollHeight);
		}
	})().catch((e) => { failed = e; }).finally(() => { ended = true; });
	let last = await frame(), all = [];
	while (!ended) { const now = await frame(); all.push(now - last); last = now; }
	if (failed) throw failed;
	return all;
})()`
