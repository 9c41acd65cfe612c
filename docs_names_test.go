//go:build !js

package bailey_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goSource has the declared names of Go files, and their comments.
type goSource struct {
	names    map[string]map[string]bool // by a package's name: "Name", "Type.Method" and "Type.Field"
	files    map[string]map[string]bool // by a file's path, the same
	imports  map[string]bool            // the names of the packages that are imported
	comments []goComment
}

func newGoSource() *goSource {
	return &goSource{names: map[string]map[string]bool{}, files: map[string]map[string]bool{}, imports: map[string]bool{}}
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
	for _, i := range f.Imports {
		if name := strings.Trim(i.Path.Value, `"`); !strings.HasPrefix(name, "github.com/bailey-go/bailey/") {
			name = majorVersion.ReplaceAllString(name, "")
			s.imports[name[strings.LastIndex(name, "/")+1:]] = true
		}
	}
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
	quoted       = regexp.MustCompile("`[^`\n]+`")
	qualified    = regexp.MustCompile(`(?:^|[^\w./-])([a-z]\w*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)`)
	bare         = regexp.MustCompile(`(?:^|[^\w./-])\*?([A-Z]\w*)\.([A-Z]\w*)`)
	majorVersion = regexp.MustCompile(`/v\d+$`)
	fence        = regexp.MustCompile("(?ms)^[ \t]*```([a-z]*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$")
	docName      = regexp.MustCompile(`\[\*?(?:(?:[\w./-]+/)?([a-z]\w*)\.)?([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	hop          = regexp.MustCompile(`(?m)^\d+\. \[([^\]]+\.go)\]\([^)]*\): (.*)$`)
	hopName      = regexp.MustCompile("`((?:\\w+\\.)?\\w+)`")
)

// foreign are the types of others that papers name. What Go files import need not be here.
var foreign = map[string]string{
	"Temporal": "JavaScript's Temporal.Now",
	"ctx":      "a context.Context",
	"slog":     "log/slog, which a page that logs nothing does not import",
}

// variables are the names that papers give to values, with the types.
var variables = map[string]string{
	"a":        "Table",
	"answer":   "Section",
	"box":      "Box",
	"c":        "Call",
	"cmd":      "Cmd",
	"packages": "Packages",
	"pool":     "Pool",
	"session":  "Session",
	"view":     "Document",
}

// inPaper returns the names that a paper has in backquotes or in a block of Go code, and that no
// package declares.
func (s *goSource) inPaper(text string) (missing []string) {
	var code []string
	prose := fence.ReplaceAllStringFunc(text, func(block string) string {
		if m := fence.FindStringSubmatch(block); m[1] == "go" {
			code = append(code, m[2])
		}
		return ""
	})
	for _, q := range quoted.FindAllString(prose, -1) {
		q = strings.Trim(q, "`")
		for _, m := range bare.FindAllStringSubmatch(q, -1) {
			// Metadata.Partial is a field of a field.
			if name := m[1] + "." + m[2]; !s.anywhere(name) && foreign[m[1]] == "" && (s.anywhere(m[1]) || !s.field(m[1]) || !s.field(m[2])) {
				missing = append(missing, name)
			}
		}
		for _, m := range qualified.FindAllStringSubmatch(q, -1) {
			if !s.knows(m[1], m[2]) {
				missing = append(missing, m[1]+"."+m[2])
			}
		}
		missing = append(missing, s.inLiterals(tokens(q))...)
	}
	return append(missing, s.inCode(code)...)
}

// inLiterals returns the fields in literals of structs that their types do not have.
func (s *goSource) inLiterals(toks []goToken) (missing []string) {
	var open []string // the type of each literal or block that is open, or ""
	for i, x := range toks {
		switch {
		case x.tok == token.LBRACE:
			typ := ""
			if i > 0 && toks[i-1].tok == token.IDENT && ast.IsExported(toks[i-1].text) {
				if typ = toks[i-1].text; i > 2 && toks[i-2].tok == token.PERIOD {
					typ = toks[i-3].text + "." + typ
				}
			}
			open = append(open, typ)
		case x.tok == token.RBRACE && len(open) > 0:
			open = open[:len(open)-1]
		case x.tok == token.COLON && len(open) > 0 && i > 1 && ast.IsExported(toks[i-1].text) && (toks[i-2].tok == token.LBRACE || toks[i-2].tok == token.COMMA):
			typ := open[len(open)-1]
			pkg, name, ok := strings.Cut(typ, ".")
			if full := typ + "." + toks[i-1].text; ok && s.has(pkg, name) && !s.has(pkg, name+"."+toks[i-1].text) || typ != "" && !ok && s.anywhere(typ) && !s.anywhere(full) {
				missing = append(missing, full)
			}
		}
	}
	return missing
}

// field reports whether a field or a method of any type has this name.
func (s *goSource) field(name string) bool {
	for _, names := range s.names {
		for n := range names {
			if strings.HasSuffix(n, "."+name) {
				return true
			}
		}
	}
	return false
}

// knows reports whether a package or a variable has name, or is one of another project.
func (s *goSource) knows(pkg, name string) bool {
	if typ := variables[pkg]; typ != "" && s.names[pkg] == nil {
		name, _, _ = strings.Cut(name, ".")
		return s.anywhere(typ + "." + name)
	}
	if s.names[pkg] == nil || pkg == "main" {
		return s.imports[pkg] || foreign[pkg] != "" || pkg == "main"
	}
	return s.has(pkg, name)
}

// inCode returns the names after a dot that blocks of Go code have, and that no package declares.
// The blocks are parts of programs, so they are not parsed. A block may use the variables of those
// before it.
func (s *goSource) inCode(blocks []string) (missing []string) {
	local := map[string]bool{}
	for _, block := range blocks {
		toks := tokens(block)
		missing = append(missing, s.inLiterals(toks)...)
		for i, x := range toks {
			switch {
			case x.tok == token.DEFINE:
				for j := i - 1; j >= 0 && toks[j].tok == token.IDENT; j -= 2 {
					local[toks[j].text] = true
					if j == 0 || toks[j-1].tok != token.COMMA {
						break
					}
				}
			case x.tok == token.IDENT && i+1 < len(toks) && (toks[i+1].tok == token.IDENT || toks[i+1].tok == token.MUL || toks[i+1].tok == token.FUNC || toks[i+1].tok == token.LBRACK):
				if i > 0 && (toks[i-1].tok == token.LPAREN || toks[i-1].tok == token.COMMA || toks[i-1].tok == token.VAR) { // a parameter, or a variable
					local[x.text] = true
				}
			}
		}
		for i := range toks {
			if i+2 >= len(toks) || toks[i].tok != token.IDENT || toks[i+1].tok != token.PERIOD || toks[i+2].tok != token.IDENT || !ast.IsExported(toks[i+2].text) {
				continue
			}
			from, name := toks[i].text, toks[i+2].text
			switch {
			case i > 0 && toks[i-1].tok == token.PERIOD: // a member of what stands before
			case local[from] && variables[from] == "":
			case ast.IsExported(from):
				if !s.anywhere(from+"."+name) && foreign[from] == "" {
					missing = append(missing, from+"."+name)
				}
			case !s.knows(from, name):
				missing = append(missing, from+"."+name)
			}
		}
	}
	return missing
}

type goToken struct {
	tok  token.Token
	text string
}

// tokens returns the tokens of Go code, which may have errors.
func tokens(code string) (list []goToken) {
	var sc scanner.Scanner
	sc.Init(token.NewFileSet().AddFile("", -1, len(code)), []byte(code), func(token.Position, string) {}, 0)
	for {
		_, tok, text := sc.Scan()
		if tok == token.EOF {
			return list
		}
		list = append(list, goToken{tok, text})
	}
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
	s, shipped, small := newGoSource(), newGoSource(), newGoSource()
	if err := small.add("inn/inn.go", "package inn\ntype Bed struct{ Size int; Frame }\ntype Frame struct{}\nfunc (*Frame) Fold() {}\nvar Key int\n"); err != nil {
		t.Fatal(err)
	}
	small.imports["http"] = true
	for _, c := range []struct {
		got  []string
		want string
	}{
		{small.inPaper("`inn.Key`, `inn.Bed{Size: 1}`, `inn.Bed.Fold()`, inn.Lost, `a/inn.Lost`"), "[]"},
		{small.inPaper("`Bed.Fold()`, `*Frame.Fold`"), "[]"},
		{small.inPaper("`Bed.Colour`"), "[Bed.Colour]"},
		{small.inPaper("`Lost.Name`, `f(*Lost.Other)`, `Temporal.Now`"), "[Lost.Name Lost.Other]"},
		{small.inPaper("`Frame.Key`, `Size.Fold`, `Size.Lost`"), "[Frame.Key Size.Lost]"},
		{small.inPaper("`lost.Name`, `http.Client`, `a/lost.Name`, `ctx.Done()`"), "[lost.Name]"},
		{small.inPaper("`inn.Bed{Size: 1, Colour: f(inn.Bed{Lost: 2}), Frame: x}`, `Bed{Fold: 1, Old: 2}`, `map[string]int{Lost: 1}`, `lost{Name: 1}`"), "[inn.Bed.Colour inn.Bed.Lost Bed.Old]"},
		{small.inPaper("`box.Call` is of a type that is not there"), "[box.Call]"},
		{small.inPaper("```go\nb, err := inn.Lost(inn.Bed{Size: 1})\nb.Make()\nfor x := range http.Get { … }\nfunc f(r *Bed, w http.Writer) { r.Turn(w.X) }\n```"), "[inn.Lost]"},
		{small.inPaper("text\n  ```go\n  lost.Name()\n  Lost.Name(Bed.Colour, inn.Bed.Size, Bed.Size)\n  ```\n`Bed.Lost`"), "[Bed.Lost lost.Name Lost.Name Bed.Colour]"},
		{small.inPaper("```\nlost.Name\n```\n```js\nlost.Name()\n```\n```go\nx.Read()\n```\n"), "[x.Read]"},
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
		case filepath.ToSlash(name) == "examples/markdown/answers": // texts of models
			return filepath.SkipDir
		case filepath.ToSlash(name) == "sandbox/shell/internal/interp" || filepath.ToSlash(name) == "sandbox/shell/internal/expand": // from another project, with its comments
			return filepath.SkipDir
		case filepath.Ext(name) == ".go":
			if !strings.HasSuffix(name, "_test.go") {
				if err := shipped.add(filepath.ToSlash(name), nil); err != nil {
					return err
				}
			}
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
		for _, n := range shipped.inPaper(string(text)) {
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
