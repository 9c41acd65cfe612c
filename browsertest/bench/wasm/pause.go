//go:build js && wasm && conversions

package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
	"github.com/bailey-go/bailey/sandbox/shell"
	"github.com/bailey-go/bailey/sandbox/web"
)

// pauses adds pause(name), which does one conversion of the largest allowed input. The page measures how
// long it is blocked meanwhile.
func pauses(all js.Value) {
	ctx := context.Background()
	api := all.Get("sandbox")
	lines := func(n int, tag string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %d\n", tag, i*7919%n)
		}
		return b.String()
	}
	// Made at the first pause, because megabytes of live data would change how often the other suites
	// collect garbage.
	var pages map[string]string
	var b *sandbox.Box
	var mem *fsaccess.Folder
	build := func() error {
		if b != nil {
			return nil
		}
		pages = map[string]string{
			"html.brackets": "<p>" + strings.Repeat("[", 5<<20-16) + "</p>",
			"html.nested":   strings.Repeat("<blockquote>", 140) + strings.Repeat("a<br>", 1<<20-1024),
			"html.tags":     strings.Repeat("<b>a</b> ", 5<<20/9),
		}
		mem = fsaccess.NewMemory(fsaccess.MemoryOptions{})
		for name, text := range map[string]string{"edit.txt": strings.Repeat("a", 1<<20), "a.txt": lines(20_000, "a"), "b.txt": lines(20_000, "b"), "lines.txt": lines(600_000, "some words"), "long.txt": strings.Repeat("x y ", 4<<20)} {
			if err := mem.WriteFile(name, []byte(text), 0o644); err != nil {
				return err
			}
		}
		p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"], "net.fetch": ["*.pages.example"]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
		if err != nil {
			return err
		}
		broker, err := web.NewBroker(web.BrokerOptions{Transport: fetch.TransportFunc(func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
			name := strings.TrimSuffix(strings.TrimPrefix(r.URL, "https://"), ".pages.example/")
			return &fetch.Response{Status: 200, Header: map[string]string{"content-type": "text/html"}, Body: io.NopCloser(strings.NewReader(pages[name]))}, nil
		})})
		if err != nil {
			return err
		}
		b, err = sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: append(sandbox.Standard(), shell.Bash(shell.Options{}), web.Fetch(broker)),
			Watch: &sandbox.WatchOptions{Rate: 100_000, Repeats: 100_000}})
		return err
	}
	// The conversions that are not a call of a tool, or are one whose refusal is the result.
	direct := map[string]func() error{
		"secrets": func() error {
			_, kinds := secrets.Redact(ctx, strings.Repeat("token secret password api_key authorization curl aws sk-", 1<<20/56))
			return unexpected(len(kinds) > 0, "secrets were found")
		},
		"kinds.zip": func() error {
			data, err := manyFiles(10_000) // with more files it counts as dangerous at once
			if err != nil {
				return err
			}
			return unexpected(len(fsaccess.Classify("a.zip", data)) > 0, "it is a dangerous archive")
		},
		"kinds.gzip": func() error {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			piece := make([]byte, 64<<10)
			for i := range piece[:4<<10] {
				piece[i] = byte(i * i >> 3)
			}
			for range 48 << 4 { // MiB
				if _, err := z.Write(piece); err != nil {
					return err
				}
				if err := jsx.Yield(ctx); err != nil {
					return err
				}
			}
			if err := z.Close(); err != nil {
				return err
			}
			fsaccess.Classify("a.gz", b.Bytes())
			return nil
		},
		"kinds.markup": func() error {
			return unexpected(len(fsaccess.Classify("a.html", bytes.Repeat([]byte("on"), 8<<20))) > 0, "it is active")
		},
		"json": func() error {
			res := b.Call(ctx, "todo", json.RawMessage("["+strings.Repeat(`"a text of some length and more of the same",`, 150_000)+`""]`))
			return unexpected(res.Err() == nil, "a list is no object")
		},
	}
	script := func(text string) (string, map[string]any) { return "bash", map[string]any{"command": text} }
	var big strings.Builder
	for i := 0; big.Len() < 10_000_000; i++ {
		fmt.Fprintf(&big, "line %d of a text that is about as long as others\n", i*7919%1_000_003)
	}
	// script(text) returns the milliseconds that a script takes, and big() the text that it finds in the file big.
	api.Set("script", promise(func(args []js.Value) (any, error) {
		if err := build(); err != nil {
			return nil, err
		}
		if err := errors.Join(mem.WriteFile("f", []byte("axb\nx\n"), 0o644), mem.WriteFile("big", []byte(big.String()), 0o644)); err != nil {
			return nil, err
		}
		start := time.Now()
		if res := b.Call(ctx, "bash", map[string]any{"command": args[0].String()}); res.Err() != nil {
			return nil, fmt.Errorf("%s", res.ErrorText)
		}
		return ms(start), nil
	}))
	api.Set("big", promise(func([]js.Value) (any, error) { return big.String(), nil }))
	api.Set("pause", promise(func(args []js.Value) (any, error) {
		if err := build(); err != nil {
			return nil, err
		}
		name := args[0].String()
		if run, ok := direct[name]; ok {
			return nil, run()
		}
		tool, call := "", map[string]any{}
		switch name {
		case "html.brackets", "html.nested", "html.tags":
			tool, call = "web_fetch", map[string]any{"url": "https://" + name + ".pages.example/"}
		case "diff":
			tool, call = "diff", map[string]any{"a": "a.txt", "b": "b.txt"}
		case "edit":
			if err := mem.WriteFile("edit.txt", []byte(strings.Repeat("a", 1<<20)), 0o644); err != nil {
				return nil, err
			}
			if res := b.Call(ctx, "read", map[string]any{"path": "edit.txt", "limit": 1}); res.Err() != nil {
				return nil, fmt.Errorf("%s", res.ErrorText)
			}
			tool, call = "edit", map[string]any{"path": "edit.txt", "old_string": "a", "new_string": strings.Repeat("b", 16), "replace_all": true}
		case "grep":
			tool, call = "grep", map[string]any{"pattern": "(x|y| )*z", "path": "long.txt"}
		case "shell.sort":
			tool, call = script("sort -k 2 lines.txt | tail -n 1")
		case "shell.sed":
			tool, call = script("sed 's/[a-z]*s/x/g' lines.txt | wc -l")
		case "shell.grep":
			tool, call = script("grep -c '(x|y| )*z' long.txt")
		default:
			return nil, fmt.Errorf("no conversion %q", name)
		}
		if res := b.Call(ctx, tool, call); res.Err() != nil {
			return nil, fmt.Errorf("%s: %s", name, res.ErrorText)
		}
		return nil, nil
	}))
}

func unexpected(is bool, what string) error {
	if is {
		return errors.New(what)
	}
	return nil
}

// manyFiles returns a ZIP of n empty files. It lets the page run in between.
func manyFiles(n int) ([]byte, error) {
	var b bytes.Buffer
	var budget jsx.Budget
	z := zip.NewWriter(&b)
	for i := range n {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("file %d", i)}); err != nil {
			return nil, err
		}
		if err := budget.Spend(context.Background()); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
