package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// runPage times first visits from the start of the navigation, each in a new window with the cache
// off. Both pages are built and served by wasm_exec, as users do it.
func runPage(ctx context.Context, e *Env) ([]Row, error) {
	if err := e.start(ctx); err != nil {
		return nil, err
	}
	tool := filepath.Join(e.dir, "wasm_exec")
	if err := e.goIn(ctx, e.Root, "build", "-o", tool, "./wasm_exec"); err != nil {
		return nil, err
	}
	visits := []struct {
		name, module, pkg string
		script            string // its value, awaited, is the time
		origin            string
	}{
		{name: "ours", module: e.Root, pkg: "./examples/markdown", script: firstBlock},
		{name: "floor", module: filepath.Join(e.Root, "browsertest"), pkg: "./bench/hello", script: timeToMain},
	}
	for i, v := range visits {
		dir := filepath.Join(e.dir, "page-"+v.name)
		cmd := exec.CommandContext(ctx, tool, "build", "-o", dir, v.pkg)
		cmd.Dir = v.module
		if msg, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", v.pkg, err, msg)
		}
		origin, stop, err := serve(ctx, tool, dir)
		if err != nil {
			return nil, err
		}
		defer stop()
		visits[i].origin = origin
	}
	s := samples{}
	for round := -1; round < e.Rounds(24); round++ {
		for i := range visits {
			v := visits[(i+round+1)%len(visits)]
			took, err := e.visit(ctx, v.origin+"/", v.script)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.pkg, err)
			}
			if round >= 0 {
				s[v.name] = append(s[v.name], took)
			}
		}
	}
	return []Row{newRow("page.first_block", s.median("ours"), s.median("floor"), "a hello-world Go page's time to main", "ms", 4)}, nil
}

// timeToMain is a script that returns the time at which main began.
const timeToMain = `new Promise((done) => {
	const look = () => {
		const [mark] = performance.getEntriesByName("main");
		mark ? done(mark.startTime) : setTimeout(look, 1);
	};
	look();
})`

// firstBlock is a script that clicks the first answer as soon as that is possible. It returns the
// time at which the document has grown by its first block.
const firstBlock = `new Promise((done) => {
	const page = document;
	let frame, before;
	const look = new MutationObserver(() => {
		const ready = page.getElementById("ready");
		if (!frame) {
			frame = page.querySelector("#conversation iframe");
			const button = page.querySelector("#answers button");
			if (!frame || !button || !ready || ready.disabled) return void (frame = null);
			before = frame.getBoundingClientRect().height;
			page.getElementById("speed").value = "0";
			button.click();
			return;
		}
		if (page.querySelector("#conversation iframe").getBoundingClientRect().height <= before) return;
		look.disconnect();
		done(performance.now());
	});
	look.observe(page, { subtree: true, childList: true, attributes: true });
})`

// visit opens a new window, and returns the value of a script that runs in it from the beginning.
func (e *Env) visit(ctx context.Context, address, script string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	opened, err := e.browser.Open(ctx, "about:blank", browser.Events{})
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	page, ok := opened.(*browser.ChromiumPage)
	if !ok {
		return 0, browser.ErrUnsupported
	}
	for _, c := range []struct {
		method string
		params map[string]any
	}{
		{"Page.enable", map[string]any{}},
		{"Network.enable", map[string]any{}},
		{"Network.setCacheDisabled", map[string]any{"cacheDisabled": true}},
		{"Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "if (self === top) globalThis.benchTook = " + script}},
		{"Page.navigate", map[string]any{"url": address}},
	} {
		if err := page.Call(ctx, c.method, c.params, nil); err != nil {
			return 0, fmt.Errorf("%s: %w", c.method, err)
		}
	}
	var took float64
	raw, err := page.Eval(ctx, `(async () => {
		for (let i = 0; !globalThis.benchTook; i++) {
			if (i > 1000) throw new Error("the page did not load");
			await new Promise((done) => setTimeout(done, 5));
		}
		return Promise.race([globalThis.benchTook, new Promise((_, fail) => setTimeout(() => fail(new Error("not ready after 30 s")), 30000))]);
	})()`)
	if err != nil {
		return 0, err
	}
	return took, json.Unmarshal(raw, &took)
}

var listening = regexp.MustCompile(`http://[^\s/]+`)

// serve runs wasm_exec serve on a free port, and returns the origin and a function that ends it.
func serve(ctx context.Context, tool, dir string) (origin string, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, tool, "serve", "-addr", "127.0.0.1:0", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() {
		cancel()
		cmd.Wait()
	}
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if found := listening.FindString(lines.Text()); found != "" {
			if _, err := url.Parse(found); err == nil {
				go func() {
					for lines.Scan() {
					}
				}()
				return found, stop, nil
			}
		}
	}
	stop()
	return "", nil, fmt.Errorf("wasm_exec serve did not say where it listens: %s", strings.Join(said, "; "))
}
