//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/bailey-go/bailey"

// modules are the modules with packages for users, below the root.
var modules = []string{".", "mcp", "environment", "browsertest", "sandbox/command/native", "worker/tools"}

// listed is a package as go list has it.
type listed struct {
	ImportPath, Dir, Name              string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// api makes the pages of the public packages, those of a page for the browser.
func (s *site) api() error {
	s.packages = map[string]string{}
	var list []listed
	for _, m := range modules {
		target := "js"
		if m != "." && m != "mcp" && m != "worker/tools" {
			target = "linux"
		}
		found, err := packagesOf(filepath.Join(s.root, m), target)
		if err != nil {
			return err
		}
		list = append(list, found...)
	}
	slices.SortFunc(list, func(a, b listed) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	for _, p := range list {
		s.packages[folder(p.ImportPath)] = apiPage(p.ImportPath)
	}
	for _, p := range list {
		one, err := s.packagePage(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		s.pages = append(s.pages, one)
	}
	return nil
}

// folder returns the folder of a package below the root.
func folder(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func apiPage(importPath string) string {
	if importPath == module {
		return "api/index.html"
	}
	return "api/" + folder(importPath) + ".html"
}

// packagesOf returns the packages of a module that a user may import, and its commands.
func packagesOf(dir, target string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+target)
	if target == "js" {
		cmd.Env = append(cmd.Env, "GOARCH=wasm")
	} else {
		cmd.Env = append(cmd.Env, "GOARCH=amd64")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", dir, err, &errs)
	}
	var list []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		rel := "/" + folder(p.ImportPath) + "/"
		hidden := slices.ContainsFunc([]string{"/internal/", "/testdata/", "/examples/", "/templates/", "/prebuilt/", "/bench/"}, func(part string) bool { return strings.Contains(rel, part) })
		if !hidden && len(p.GoFiles) > 0 && (p.Name != "main" || strings.Contains(rel, "/cmd/") || rel == "/wasm_exec/") {
			list = append(list, p)
		}
	}
}

// packagePage makes the page of a package: its documentation, its names and its examples.
func (s *site) packagePage(p listed) (page, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		if strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "example") {
			continue
		}
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return page{}, err
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(set, files, p.ImportPath)
	if err != nil {
		return page{}, err
	}
	w := &writer{site: s, page: apiPage(p.ImportPath), doc: d, set: set}
	title := folder(p.ImportPath)
	if title == "." {
		title = "bailey"
	}
	fmt.Fprintf(w, "<h1>%s</h1>\n", html.EscapeString(title))
	if p.Name != "main" {
		fmt.Fprintf(w, "<pre><code>import %q</code></pre>\n", p.ImportPath)
	}
	w.comment(d.Doc)
	w.examples(d.Examples)
	if p.Name == "main" { // its names are nobody's
		return page{w.page, title, w.Bytes()}, nil
	}
	w.values("Constants", d.Consts)
	w.values("Variables", d.Vars)
	if len(d.Funcs) > 0 {
		w.WriteString("<h2>Functions</h2>\n")
		w.functions(d.Funcs, "")
	}
	if len(d.Types) > 0 {
		w.WriteString("<h2>Types</h2>\n")
	}
	for _, t := range d.Types {
		fmt.Fprintf(w, "<h3 id=\"%s\">type %[1]s</h3>\n", html.EscapeString(t.Name))
		w.members(t)
		w.code(t.Decl)
		w.comment(t.Doc)
		w.examples(t.Examples)
		w.values("", t.Consts)
		w.values("", t.Vars)
		w.functions(t.Funcs, "")
		w.functions(t.Methods, t.Name+".")
	}
	return page{w.page, title, w.Bytes()}, nil
}

// writer writes a package's page.
type writer struct {
	bytes.Buffer
	site *site
	page string
	doc  *doc.Package
	set  *token.FileSet
}

// comment writes a documentation comment. Its links lead to the pages of the site, and else to pkg.go.dev.
func (w *writer) comment(text string) {
	p := w.doc.Printer()
	p.HeadingLevel = 3
	p.DocLinkURL = func(link *comment.DocLink) string {
		name := link.Name
		if link.Recv != "" {
			name = link.Recv + "." + name
		}
		to := ""
		switch {
		case link.ImportPath == "" || link.ImportPath == w.doc.ImportPath:
		case w.site.packages[folder(link.ImportPath)] != "":
			to = relative(w.page, apiPage(link.ImportPath))
		default:
			to = "https://pkg.go.dev/" + link.ImportPath
		}
		if name != "" {
			to += "#" + name
		}
		return to
	}
	w.Write(p.HTML(w.doc.Parser().Parse(text)))
}

// code writes a declaration without its comment, which is a text of the page.
func (w *writer) code(node ast.Node) {
	var b bytes.Buffer
	if err := format.Node(&b, w.set, node); err != nil {
		b.WriteString(err.Error())
	}
	fmt.Fprintf(w, "<pre><code>%s</code></pre>\n", html.EscapeString(b.String()))
}

// members writes a place for each field of a struct, and for each method of an interface, to which comments link.
func (w *writer) members(t *doc.Type) {
	for _, spec := range t.Decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok || spec.Name.Name != t.Name {
			continue
		}
		var list *ast.FieldList
		switch of := spec.Type.(type) {
		case *ast.StructType:
			list = of.Fields
		case *ast.InterfaceType:
			list = of.Methods
		}
		if list == nil {
			continue
		}
		for _, f := range list.List {
			for _, name := range f.Names {
				fmt.Fprintf(w, "<span id=\"%s\"></span>", html.EscapeString(t.Name+"."+name.Name))
			}
		}
	}
}

func (w *writer) values(title string, list []*doc.Value) {
	if len(list) == 0 {
		return
	}
	if title != "" {
		fmt.Fprintf(w, "<h2>%s</h2>\n", title)
	}
	for _, v := range list {
		for _, name := range v.Names {
			fmt.Fprintf(w, "<span id=\"%s\"></span>", html.EscapeString(name))
		}
		w.code(v.Decl)
		w.comment(v.Doc)
	}
}

func (w *writer) functions(list []*doc.Func, prefix string) {
	for _, f := range list {
		fmt.Fprintf(w, "<h4 id=\"%s\">func %[1]s</h4>\n", html.EscapeString(prefix+f.Name))
		f.Decl.Body = nil
		w.code(f.Decl)
		w.comment(f.Doc)
		w.examples(f.Examples)
	}
}

func (w *writer) examples(list []*doc.Example) {
	for _, e := range list {
		title := "Example"
		if e.Suffix != "" {
			title += " (" + e.Suffix + ")"
		}
		fmt.Fprintf(w, "<details class=\"example\"><summary>%s</summary>\n", html.EscapeString(title))
		w.comment(e.Doc)
		var node any = e.Code
		if e.Play != nil {
			node = e.Play
		}
		var b bytes.Buffer
		if err := format.Node(&b, w.set, node); err != nil {
			b.WriteString(err.Error())
		}
		text := strings.TrimSpace(b.String())
		if e.Play == nil { // a block, whose braces are those of the function
			text = strings.ReplaceAll(strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")), "\n\t", "\n")
		}
		fmt.Fprintf(w, "<pre><code>%s</code></pre>\n", html.EscapeString(text))
		if e.Output != "" {
			fmt.Fprintf(w, "<p>Output:</p><pre><code>%s</code></pre>\n", html.EscapeString(e.Output))
		}
		w.WriteString("</details>\n")
	}
}
