//go:build !js

package bailey_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goSource has the declared names of all Go files, and their comments.
type goSource struct {
	names    map[string]map[string]bool // by a package's name: "Name", "Type.Method" and "Type.Field"
	files    map[string]map[string]bool // by a file's path, the same
	comments []goComment
}

type goComment struct{ at, pkg, text string }

// add reads one Go file.
func (s *goSource) add(path string, src any) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := strings.TrimSuffix(f.Name.Name, "_test")
	if s.names[pkg] == nil {
		s.names[pkg] = map[string]bool{}
	}
	s.files[path] = map[string]bool{}
	add := func(name string) { s.names[pkg][name], s.files[path][name] = true, true }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = typeName(d.Recv.List[0].Type) + "." + name
			}
			add(name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name)
					for _, m := range members(spec.Type) {
						add(spec.Name.Name + "." + m)
					}
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						add(n.Name)
					}
				}
			}
		}
	}
	for _, g := range f.Comments {
		s.comments = append(s.comments, goComment{fset.Position(g.Pos()).String(), pkg, g.Text()})
	}
	return nil
}

func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// members returns the names of the fields of a struct or of the methods of an interface.
func members(t ast.Expr) (names []string) {
	var list *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return nil
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
		if len(f.Names) == 0 {
			names = append(names, typeName(f.Type))
		}
	}
	return names
}

// has reports whether a package declares name. A member may come from an embedded type, so the
// member of any type of any package is enough, if the type exists.
func (s *goSource) has(pkg, name string) bool {
	names := s.names[pkg]
	if names[name] {
		return true
	}
	typ, member, ok := strings.Cut(name, ".")
	if !ok || !names[typ] {
		return false
	}
	for n := range names {
		if embedder, embedded, ok := strings.Cut(n, "."); ok && embedder == typ {
			for p := range s.names {
				if s.names[p][embedded+"."+member] {
					return true
				}
			}
		}
	}
	return false
}

// anywhere reports whether a package declares name.
func (s *goSource) anywhere(name string) bool {
	for pkg := range s.names {
		if s.has(pkg, name) {
			return true
		}
	}
	return false
}

var (
	quoted    = regexp.MustCompile("`[^`\n]+`")
	qualified = regexp.MustCompile(`(?:^|[^\w./-])([a-z]\w*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)`)
	bare      = regexp.MustCompile("^`\\*?([A-Z]\\w*)\\.([A-Z]\\w*)")
	docName   = regexp.MustCompile(`\[\*?(?:(?:[\w./-]+/)?([a-z]\w*)\.)?([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	hop       = regexp.MustCompile(`(?m)^\d+\. \[([^\]]+\.go)\]\([^)]*\): (.*)$`)
	hopName   = regexp.MustCompile("`((?:\\w+\\.)?\\w+)`")
)

// inPaper returns the names in backquotes that a paper has and no package declares.
func (s *goSource) inPaper(text string) (missing []string) {
	for _, q := range quoted.FindAllString(text, -1) {
		if m := bare.FindStringSubmatch(q); m != nil && s.anywhere(m[1]) && !s.anywhere(m[1]+"."+m[2]) {
			missing = append(missing, m[1]+"."+m[2])
		}
		for _, m := range qualified.FindAllStringSubmatch(strings.Trim(q, "`"), -1) {
			if m[1] != "main" && s.names[m[1]] != nil && !s.has(m[1], m[2]) {
				missing = append(missing, m[1]+"."+m[2])
			}
		}
	}
	return missing
}

// inComment returns the doc links of a comment that lead to no name.
func (s *goSource) inComment(c goComment) (missing []string) {
	for _, m := range docName.FindAllStringSubmatchIndex(c.text, -1) {
		sub := func(i int) string {
			if m[i] < 0 {
				return ""
			}
			return c.text[m[i]:m[i+1]]
		}
		if m[1] < len(c.text) && strings.ContainsRune("([:", rune(c.text[m[1]])) || strings.Contains(c.text, "\n["+sub(4)+"]:") {
			continue // a link of another kind
		}
		pkg := sub(2)
		if pkg == "" {
			pkg = c.pkg
		}
		if name := sub(4); s.names[pkg] != nil && !s.has(pkg, name) && (sub(2) != "" || name != strings.ToUpper(name)) { // [FILE] is a usage
			missing = append(missing, sub(0))
		}
	}
	return missing
}

// inHops returns the names in backquotes that a hop of docs/architecture.md has and its file does
// not declare.
func (s *goSource) inHops(text string) (missing []string) {
	for _, m := range hop.FindAllStringSubmatch(text, -1) {
		for _, n := range hopName.FindAllStringSubmatch(m[2], -1) {
			if name := n[1]; !s.files[m[1]][name] && name != "proc_exit" {
				missing = append(missing, m[1]+": "+name)
			}
		}
	}
	return missing
}

// The papers and the doc links of comments use only names that exist.
func TestDocsNames(t *testing.T) {
	s := &goSource{names: map[string]map[string]bool{}, files: map[string]map[string]bool{}}
	small := &goSource{names: map[string]map[string]bool{}, files: map[string]map[string]bool{}}
	if err := small.add("inn/inn.go", "package inn\ntype Bed struct{ Size int; Frame }\ntype Frame struct{}\nfunc (*Frame) Fold() {}\nvar Key int\n"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		got  []string
		want string
	}{
		{small.inPaper("`inn.Key`, `inn.Bed{Size: 1}`, `inn.Bed.Fold()`, `x.Lost`, inn.Lost, `a/inn.Lost`"), "[]"},
		{small.inPaper("`Bed.Fold()`, `*Frame.Fold`, `Lost.Name`"), "[]"},
		{small.inPaper("`Bed.Colour`"), "[Bed.Colour]"},
		{small.inPaper("`inn.Lost` and `f(inn.Bed.Colour)`"), "[inn.Lost inn.Bed.Colour]"},
		{small.inComment(goComment{pkg: "inn", text: "[Key], [Bed.Fold], [x.Lost], [Lost](a.md)\n[Page]\n\n[Page]: https://example.org"}), "[]"},
		{small.inComment(goComment{pkg: "inn", text: "[Lost], [*inn.Lost] and [Bed.Colour]."}), "[[Lost] [*inn.Lost] [Bed.Colour]]"},
		{small.inHops("1. [inn/inn.go](../inn/inn.go): `Frame.Fold` and `Bed`.\n"), "[]"},
		{small.inHops("1. [inn/inn.go](../inn/inn.go): `Frame.Open`.\n"), "[inn/inn.go: Frame.Open]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Fatalf("the check finds %s, want %s", got, c.want)
		}
	}
	var papers []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base[0] == '.' || slices.Contains([]string{"node_modules", "build", "testdata"}, base)):
			return filepath.SkipDir
		case filepath.ToSlash(name) == "sandbox/shell/internal/interp": // from another project, with its comments
			return filepath.SkipDir
		case filepath.Ext(name) == ".go":
			return s.add(filepath.ToSlash(name), nil)
		case filepath.Ext(name) == ".md" && base != "CHANGELOG.md":
			papers = append(papers, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range papers {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range s.inPaper(string(text)) {
			t.Errorf("%s names %s, which does not exist", name, n)
		}
		if filepath.ToSlash(name) == "docs/architecture.md" {
			for _, n := range s.inHops(string(text)) {
				t.Errorf("%s: not declared in its file: %s", name, n)
			}
		}
	}
	for _, c := range s.comments {
		for _, n := range s.inComment(c) {
			t.Errorf("%s: %s does not exist", c.at, n)
		}
	}
}
