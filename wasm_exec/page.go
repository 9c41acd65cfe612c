package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{title}}</title>
<link rel="icon" href="data:,">
</head>
<body>
<main id="app"></main>
<script src="bailey.js" data-wasm="{{name}}.wasm"></script>
</body>
</html>
`

// indexPage returns the page of a program that has none of its own.
func indexPage(name, title string) []byte {
	return []byte(strings.NewReplacer("{{title}}", html.EscapeString(title), "{{name}}", html.EscapeString(name)).Replace(page))
}

const starter = `// Command %[1]s runs in a page.
//
//	wasm_exec build . -o dist && wasm_exec serve dist
package main

import "syscall/js"

func main() {
	document := js.Global().Get("document")
	document.Call("getElementById", "app").Set("textContent", "Hello from Go.")
	select {} // a page's program stays, so that its handlers live
}
`

// initCommand writes a first page. It never overwrites a file.
func initCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("init", flag.ContinueOnError)
	rest, err := parse(f, args, stderr, 1, "DIR")
	if err != nil {
		return err
	}
	dir := rest[0]
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	title := filepath.Base(abs)
	files := []struct {
		name string
		data []byte
	}{
		{filepath.Join("web", "index.html"), indexPage("main", title)},
		{headersName, []byte("{}\n")},
	}
	if mains, _ := filepath.Glob(filepath.Join(dir, "*.go")); len(mains) == 0 {
		files = append(files, struct {
			name string
			data []byte
		}{"main.go", []byte(fmt.Sprintf(starter, title))})
	}
	for _, x := range files {
		name := filepath.Join(dir, x.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			fmt.Fprintln(stdout, "kept", name)
			continue
		}
		if err != nil {
			return fmt.Errorf("init: %w", err)
		}
		_, err = w.Write(x.data)
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("init: %w", err)
		}
		fmt.Fprintln(stdout, "wrote", name)
	}
	fmt.Fprintf(stdout, "next: wasm_exec build %s -o dist && wasm_exec serve dist\n", dir)
	return nil
}
