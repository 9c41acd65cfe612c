//go:build !js

package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/bailey-go/bailey/headers"
)

//go:embed site.css
var style embed.FS

// site is the site that is made. Its pages have the names of the papers, with .html in place of .md.
type site struct {
	root, out, source, playground string

	pages    []page
	packages map[string]string // the page of a package by its folder
	headers  []rule
}

// page is a page before the frame around it.
type page struct {
	name, title string
	body        []byte
}

// rule are the headers below a path, which ends with "/".
type rule struct {
	path string
	list []headers.Header
}

// papers are the texts at the root. README.md is the page index.html.
var papers = []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RATIONALE.md", "SECURITY.md", "THREATMODEL.md"}

func (s *site) write() error {
	list := slices.Clone(papers)
	err := filepath.WalkDir(filepath.Join(s.root, "docs"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			rel, err := filepath.Rel(s.root, name)
			list = append(list, filepath.ToSlash(rel))
			return err
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.api(); err != nil {
		return err
	}
	for _, name := range list {
		text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		p, err := s.paper(name, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.pages = append(s.pages, p)
	}
	if err := s.claim(); err != nil {
		return err
	}
	for _, p := range s.pages {
		if err := s.put(p.name, s.frame(p)); err != nil {
			return err
		}
	}
	css, err := style.ReadFile("site.css")
	if err == nil {
		err = s.put("site.css", css)
	}
	if err == nil {
		err = s.pictures()
	}
	if err == nil {
		err = s.play()
	}
	if err == nil {
		err = s.put("_headers", s.headerFile())
	}
	return err
}

// made is a file that marks a folder as one that this command may empty.
const made = ".bailey-site"

// claim empties the folder of an earlier site. It refuses another one that is not empty.
func (s *site) claim() error {
	list, err := os.ReadDir(s.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(list) > 0 {
		if _, err := os.Stat(filepath.Join(s.out, made)); err != nil {
			return fmt.Errorf("%s is no folder of a site: empty it yourself, or name another with -o", s.out)
		}
		if err := os.RemoveAll(s.out); err != nil {
			return err
		}
	}
	return s.put(made, nil)
}

func (s *site) put(name string, data []byte) error {
	file := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// pageOf returns the name of a paper's page.
func pageOf(paper string) string {
	if paper == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(paper, ".md") + ".html"
}

// paper makes the page of a paper. Its HTML is escaped, because no paper needs any.
func (s *site) paper(name string, source []byte) (page, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
	p := page{name: pageOf(name), title: name}
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 && p.title == name {
				p.title = plain(n, source)
			}
		case *ast.Link:
			n.Destination = []byte(s.link(name, string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(s.picture(name, string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return p, err
	}
	var b bytes.Buffer
	err = md.Renderer().Render(&b, source, doc)
	p.body = b.Bytes()
	return p, err
}

// ids makes the ids of headings as GitHub does, so that links to them hold in both places.
type ids map[string]int

// Generate implements parser.IDs.
func (i ids) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, string(value))
	free := id
	for _, taken := i[free]; taken; _, taken = i[free] { // also by a heading that ends with a number itself
		i[id]++
		free = id + "-" + strconv.Itoa(i[id])
	}
	i[free] = 0
	return []byte(free)
}

// Put implements parser.IDs.
func (i ids) Put(value []byte) { i[string(value)] = 0 }

// plain returns the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// link returns the address on the site for a link of a paper. A paper and a package have pages, and the rest of the repository is at its
// source.
func (s *site) link(from, to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.Path == "" {
		return to
	}
	target := path.Join(path.Dir(from), u.Path)
	fragment := ""
	if u.Fragment != "" {
		fragment = "#" + u.Fragment
	}
	switch {
	case path.Ext(target) == ".md" && (slices.Contains(papers, target) || strings.HasPrefix(target, "docs/")):
		return relative(pageOf(from), pageOf(target)) + fragment
	case s.packages[target] != "":
		return relative(pageOf(from), s.packages[target]) + fragment
	}
	return s.source + target + fragment
}

// picture returns the address of a picture, which is copied.
func (s *site) picture(from, to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() {
		return to
	}
	return relative(pageOf(from), "pictures/"+path.Join(path.Dir(from), u.Path))
}

// pictures copies the pictures of the pages.
func (s *site) pictures() error {
	for _, p := range s.pages {
		for rest := string(p.body); ; {
			_, after, ok := strings.Cut(rest, `<img src="`)
			if !ok {
				break
			}
			var src string
			src, rest, _ = strings.Cut(after, `"`)
			name, ok := strings.CutPrefix(path.Join(path.Dir(p.name), html.UnescapeString(src)), "pictures/")
			if !ok {
				continue
			}
			data, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
			if err == nil {
				err = s.put("pictures/"+name, data)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// relative returns the address of a page as another one links it, so that the site works below any folder.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// frame returns the whole page.
func (s *site) frame(p page) []byte {
	var b bytes.Buffer
	at := func(to string) string { return html.EscapeString(relative(p.name, to)) }
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>%s</title><link rel=\"stylesheet\" href=\"%s\"><link rel=\"icon\" href=\"data:,\"></head>\n<body>\n<nav aria-label=\"Pages\">\n", html.EscapeString(p.title), at("site.css"))
	group := func(title, prefix string) {
		fmt.Fprintf(&b, "<details%s><summary>%s</summary><ul>\n", map[bool]string{true: " open"}[strings.HasPrefix(p.name, prefix) && (prefix != "" || !strings.Contains(p.name, "/"))], title)
		for _, q := range s.pages {
			rest, ok := strings.CutPrefix(q.name, prefix)
			if !ok || strings.Contains(rest, "/") && prefix != "api/" {
				continue
			}
			current := ""
			if q.name == p.name {
				current = ` aria-current="page"`
			}
			fmt.Fprintf(&b, "<li><a href=\"%s\"%s>%s</a></li>\n", at(q.name), current, html.EscapeString(q.title))
		}
		b.WriteString("</ul></details>\n")
	}
	group("Bailey", "")
	group("Documents", "docs/")
	group("Errors", "docs/errors/")
	group("Packages", "api/")
	if s.playground != "" {
		fmt.Fprintf(&b, "<details open><summary>Playground</summary><ul>\n")
		for _, name := range playgrounds {
			fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a></li>\n", at("playground/"+name+"/index.html"), name)
		}
		b.WriteString("</ul></details>\n")
	}
	b.WriteString("</nav>\n<main>\n")
	b.Write(p.body)
	b.WriteString("\n</main>\n</body>\n</html>\n")
	return b.Bytes()
}

// playgrounds are the examples of the playground.
var playgrounds = []string{"markdown", "run"}

// play copies the playground, and sets the headers of all parts.
func (s *site) play() error {
	s.headers = []rule{{"/", []headers.Header{
		{Name: "Content-Security-Policy", Value: "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
		{Name: "X-Content-Type-Options", Value: "nosniff"},
		{Name: "Referrer-Policy", Value: "no-referrer"},
	}}}
	if s.playground == "" {
		return nil
	}
	for _, name := range playgrounds {
		from := filepath.Join(s.playground, name)
		use, err := os.ReadFile(filepath.Join(from, "headers.json"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		h := headers.Default()
		if err == nil {
			var u headers.Use
			if err := json.Unmarshal(use, &u); err != nil {
				return fmt.Errorf("%s: %w", from, err)
			}
			if h, err = headers.For(u); err != nil {
				return fmt.Errorf("%s: %w", from, err)
			}
		}
		s.headers = append(s.headers, rule{"/playground/" + name + "/", h.List()})
		if err := os.CopyFS(filepath.Join(s.out, "playground", name), os.DirFS(from)); err != nil {
			return fmt.Errorf("the example %s: %w (make site builds it)", name, err)
		}
	}
	return nil
}

// headerFile returns _headers. A rule of a host adds to the one above it, so the names that both have are taken off first.
func (s *site) headerFile() []byte {
	var b bytes.Buffer
	for i, r := range s.headers {
		fmt.Fprintf(&b, "%s*\n", r.path)
		if i > 0 {
			for _, x := range s.headers[0].list {
				fmt.Fprintf(&b, "  ! %s\n", x.Name)
			}
		}
		for _, x := range r.list {
			fmt.Fprintf(&b, "  %s: %s\n", x.Name, x.Value)
		}
	}
	return b.Bytes()
}
