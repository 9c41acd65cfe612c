package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

//go:embed templates
var templates embed.FS

// templateNames returns the names of the templates, the default first.
func templateNames() []string { return []string{"hello", "chat", "agent"} }

// settings are of VS Code and the editors that read its file: without them gopls leaves out files for the
// browser.
const settings = `{
  "gopls": {
    "build.env": { "GOOS": "js", "GOARCH": "wasm" }
  }
}
`

// starterFile is a file that init writes, by its path with slashes.
type starterFile struct {
	name string
	data []byte
}

// starterFiles returns the files of a template.
func starterFiles(template, title string) ([]starterFile, error) {
	if !slices.Contains(templateNames(), template) {
		return nil, fmt.Errorf("-template %q: there are %s", template, strings.Join(templateNames(), ", "))
	}
	files := []starterFile{
		{headersName, []byte("{}\n")},
		{".gitignore", []byte("/dist/\n")},
		{".vscode/settings.json", []byte(settings)},
	}
	if template == "hello" {
		files = append(files, starterFile{"web/index.html", indexPage("main", title)})
	}
	root := "templates/" + template
	err := fs.WalkDir(templates, root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := templates.ReadFile(at)
		if strings.HasSuffix(at, ".html") {
			data = bytes.ReplaceAll(data, []byte("{{title}}"), []byte(html.EscapeString(title)))
		}
		files = append(files, starterFile{strings.TrimPrefix(at, root+"/"), data})
		return err
	})
	return files, err
}

// initCommand writes a first page. It never overwrites a file.
func initCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("init", flag.ContinueOnError)
	template := f.String("template", "hello", "the `page` to begin with: "+strings.Join(templateNames(), ", "))
	rest, err := parse(f, args, stderr, 1, "DIR")
	if err != nil {
		return err
	}
	dir := rest[0]
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	files, err := starterFiles(*template, filepath.Base(abs))
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	root, mod := moduleOf(abs)
	if rel, err := filepath.Rel(root, abs); root != "" && err == nil && strings.ContainsAny(rel, " \t'\"&;()") {
		return fmt.Errorf("init: the folder %q is a package of the module in %s, and the path of a package has no spaces or quotes: choose another name", rel, root)
	}
	if mains, _ := filepath.Glob(filepath.Join(dir, "*.go")); len(mains) > 0 {
		files = slices.DeleteFunc(files, func(x starterFile) bool { return strings.HasSuffix(x.name, ".go") })
		fmt.Fprintln(stdout, "there is a program already, so no Go file is written")
	}
	for _, x := range files {
		if err := writeNew(filepath.Join(dir, filepath.FromSlash(x.name)), x.data, stdout); err != nil {
			return fmt.Errorf("init: %w", err)
		}
	}
	fmt.Fprint(stdout, nextSteps(dir, root, mod))
	return nil
}

// writeNew writes a file, unless it exists.
func writeNew(name string, data []byte, stdout io.Writer) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		fmt.Fprintln(stdout, "kept", name)
		return nil
	}
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		fmt.Fprintln(stdout, "wrote", name)
	}
	return err
}

// moduleOf returns the folder of the module that dir is in and the text of its go.mod, or "" without one.
func moduleOf(dir string) (root, mod string) {
	for at := dir; ; at = filepath.Dir(at) {
		if text, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil {
			return at, string(text)
		}
		if filepath.Dir(at) == at {
			return "", ""
		}
	}
}

// nextSteps returns the commands that show the page of dir.
func nextSteps(dir, root, mod string) string {
	var b strings.Builder
	b.WriteString("next:\n")
	if filepath.Clean(dir) != "." {
		fmt.Fprintf(&b, "  cd %s\n", quoted(dir))
	}
	tool := "wasm_exec"
	if strings.Contains(mod, "github.com/bailey-go/bailey/wasm_exec") {
		tool = "go tool wasm_exec"
	}
	if root == "" {
		b.WriteString("  go mod init example.org/app\n")
	}
	if !strings.Contains(mod, "github.com/bailey-go/bailey") {
		b.WriteString("  go get github.com/bailey-go/bailey\n")
	}
	fmt.Fprintf(&b, "  go mod tidy\n  %s dev .\n", tool)
	return b.String()
}

// quoted returns a path as a word of a shell.
func quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
