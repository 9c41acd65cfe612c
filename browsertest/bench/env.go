package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

//go:embed web
var web embed.FS

// Env is shared by the suites: one browser, one server, the built programs.
type Env struct {
	Root   string // the repository's folder
	Prefix string // of the ids of the rows to run
	Quick  bool   // few rounds

	dir     string
	browser browser.Browser
	server  *http.Server
	mux     *http.ServeMux
	origin  string
}

// Wants reports whether a row whose id begins with prefix is to be run.
func (e *Env) Wants(prefix string) bool {
	return strings.HasPrefix(prefix, e.Prefix) || strings.HasPrefix(e.Prefix, prefix)
}

// Rounds returns n, or an eighth of it for a quick run, but at least 1.
func (e *Env) Rounds(n int) int {
	if e.Quick {
		return max(1, n/8)
	}
	return n
}

// Close ends the browser and the server, and removes the built files.
func (e *Env) Close() {
	if e.browser != nil {
		e.browser.Close()
	}
	if e.server != nil {
		e.server.Close()
	}
	if e.dir != "" {
		os.RemoveAll(e.dir)
	}
}

// start starts the server and the browser at its first call.
func (e *Env) start(ctx context.Context) error {
	if e.browser != nil {
		return nil
	}
	var err error
	if e.dir, err = os.MkdirTemp("", "bailey-bench-"); err != nil {
		return err
	}
	files, err := fs.Sub(web, "web")
	if err != nil {
		return err
	}
	e.mux = http.NewServeMux()
	e.mux.Handle("/", http.FileServerFS(files))
	e.mux.Handle("/npm/", http.StripPrefix("/npm/", http.FileServer(http.Dir(filepath.Join(e.Root, "node_modules")))))
	e.mux.Handle("/built/", http.StripPrefix("/built/", http.FileServer(http.Dir(e.dir))))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e.origin = "http://" + l.Addr().String()
	e.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The clock of an isolated page ticks every 5 µs instead of every 100 µs.
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Header().Set("Cache-Control", "no-store")
		e.mux.ServeHTTP(w, r)
	})}
	go e.server.Serve(l)

	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(e.dir, "wasm_exec.js"), glue, 0o666); err != nil {
		return err
	}
	profile := filepath.Join(e.dir, "browser")
	if err := os.Mkdir(profile, 0o700); err != nil {
		return err
	}
	e.browser, err = browser.Start(ctx, browser.Options{Engine: browser.Chromium, Dir: profile, Args: []string{"--js-flags=--expose-gc"}})
	return err
}

// Peer returns "name version" of a package in package.json. It returns an error if that version is
// not the installed one.
func (e *Env) Peer(name string) (string, error) {
	var pinned struct{ DevDependencies map[string]string }
	var installed struct{ Version string }
	for file, into := range map[string]any{"package.json": &pinned, "node_modules/" + name + "/package.json": &installed} {
		data, err := os.ReadFile(filepath.Join(e.Root, file))
		if err != nil {
			return "", fmt.Errorf("%w (make node_modules)", err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
	}
	if v := pinned.DevDependencies[name]; v != installed.Version || v == "" {
		return "", fmt.Errorf("%s: package.json pins %q, installed is %q (make node_modules)", name, v, installed.Version)
	}
	return name + " " + installed.Version, nil
}

// Build compiles a command for the page as users do, with further flags, and returns its path on the server.
func (e *Env) Build(ctx context.Context, dir, pkg, name string, flags ...string) (string, error) {
	if err := e.start(ctx); err != nil {
		return "", err
	}
	return "/built/" + name + ".wasm", e.goIn(ctx, dir, append(append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(e.dir, name+".wasm")}, flags...), pkg)...)
}

// goIn runs the go command in a module. If an argument ends in .wasm, it builds for the page.
func (e *Env) goIn(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	if slices.ContainsFunc(args, func(a string) bool { return strings.HasSuffix(a, ".wasm") }) {
		cmd.Env = append(cmd.Env, "GOOS=js", "GOARCH=wasm")
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, msg)
	}
	return nil
}

// Open opens a page of folder web, or of a handler, by its path.
func (e *Env) Open(ctx context.Context, path string) (*Page, error) {
	if err := e.start(ctx); err != nil {
		return nil, err
	}
	p := &Page{}
	pg, err := e.browser.Open(ctx, e.origin+path, browser.Events{Console: func(kind, text string) {
		fmt.Fprintf(os.Stderr, "bench: console.%s: %s\n", kind, text)
	}})
	if err != nil {
		return nil, err
	}
	p.Page = pg
	return p, nil
}

// Page is a page of the bench.
type Page struct{ browser.Page }

// Call calls an asynchronous function of the page's global object, and stores its result in answer,
// unless that is nil.
func (p *Page) Call(ctx context.Context, function string, answer any, args ...any) error {
	if args == nil {
		args = []any{}
	}
	list, err := json.Marshal(args)
	if err != nil {
		return err
	}
	raw, err := p.Eval(ctx, fmt.Sprintf(`(async () => {
		while (document.readyState !== "complete") await new Promise((done) => setTimeout(done, 5));
		return await globalThis[%q](...%s);
	})()`, function, list))
	if err != nil {
		return fmt.Errorf("%s: %w", function, err)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return fmt.Errorf("%s answered %.200s: %w", function, raw, err)
	}
	return nil
}
