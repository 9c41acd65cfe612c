package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/bailey-go/bailey"

// A Source is the repository's Go files by folder.
type Source struct {
	fset     *token.FileSet
	packages map[string]*Package // by folder, relative to the root, "." for the root
	papers   []paper
}

// A Package is the Go files of one folder.
type Package struct {
	Dir   string
	Name  string
	files []*file
}

type file struct {
	name string
	ast  *ast.File
	test bool
}

// read parses all Go files below root, apart from folders named build or node_modules, or with a
// leading dot.
func read(root string) (*Source, error) {
	s := &Source{fset: token.NewFileSet(), packages: map[string]*Package{}}
	return s, filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if at != root && (name[0] == '.' || name == "node_modules" || name == "build") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(s.fset, at, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(rel))
		p := s.packages[dir]
		if p == nil {
			p = &Package{Dir: dir}
			s.packages[dir] = p
		}
		test := strings.HasSuffix(name, "_test.go")
		if !test {
			p.Name = parsed.Name.Name
		}
		p.files = append(p.files, &file{name: name, ast: parsed, test: test})
		return nil
	})
}

// public reports whether a user of the library can import the package.
func (p *Package) public() bool {
	if p.Name == "" || p.Name == "main" {
		return false
	}
	elems := strings.Split(p.Dir, "/")
	return !slices.ContainsFunc(elems, func(e string) bool {
		return e == "internal" || e == "testdata" || e == "examples"
	}) && !strings.HasSuffix(p.Dir, "conformance")
}

// A name is an exported declaration at the top level of a package.
type name struct {
	pkg  *Package
	name string
	pos  token.Pos
	file *file
	node ast.Node // the declaration without its doc
	doc  string
	typ  string // of a value: the package's own exported type, if it has one
}

// exported returns the exported top-level names of a package, each once.
func (p *Package) exported() []name {
	seen := map[string]bool{}
	var out []name
	add := func(f *file, id *ast.Ident, node ast.Node, docs ...*ast.CommentGroup) bool {
		if !id.IsExported() || seen[id.Name] {
			return false
		}
		seen[id.Name] = true
		doc := ""
		for _, d := range docs {
			if doc == "" {
				doc = d.Text()
			}
		}
		out = append(out, name{pkg: p, name: id.Name, pos: id.Pos(), file: f, node: node, doc: doc})
		return true
	}
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(f, d.Name, d.Type, d.Doc)
				}
			case *ast.GenDecl:
				last := ""
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(f, spec.Name, spec.Type, spec.Doc, d.Doc)
					case *ast.ValueSpec:
						typ := valueType(spec)
						if spec.Type == nil && spec.Values == nil {
							typ = last // an iota continues
						}
						last = typ
						for _, id := range spec.Names {
							if add(f, id, spec, spec.Doc, spec.Comment, d.Doc) {
								out[len(out)-1].typ = typ
							}
						}
					}
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b name) int { return strings.Compare(a.name, b.name) })
	return out
}

// valueType returns the name of the package's own type with which a constant or variable is
// declared, "" without one.
func valueType(spec *ast.ValueSpec) string {
	t := spec.Type
	if call, ok := first(spec.Values).(*ast.CallExpr); ok && t == nil {
		t = call.Fun // Kind("x")
	}
	if id, ok := t.(*ast.Ident); ok && id.IsExported() {
		return id.Name
	}
	return ""
}

func first(all []ast.Expr) ast.Expr {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// imports returns the folders of the repository's packages that a file imports, by their names in
// the file.
func (s *Source) imports(f *file) map[string]string {
	out := map[string]string{}
	for _, spec := range f.ast.Imports {
		at, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		rel, ok := strings.CutPrefix(at, module)
		if !ok {
			continue
		}
		dir := strings.TrimPrefix(rel, "/")
		if dir == "" {
			dir = "."
		}
		local := path.Base(at)
		if p := s.packages[dir]; p != nil && p.Name != "" {
			local = p.Name
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		out[local] = dir
	}
	return out
}
