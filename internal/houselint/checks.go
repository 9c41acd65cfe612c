package main

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// names returns the number of exported top-level names of each public package, by folder.
func (s *Source) names() map[string]int {
	out := map[string]int{}
	for dir, p := range s.packages {
		if p.public() {
			out[dir] = len(p.exported())
		}
	}
	return out
}

// aliases returns the public types that are aliases of a type in an internal package. Their
// documentation shows no fields and no methods.
func (s *Source) aliases() []string {
	var out []string
	for _, p := range s.packages {
		if !p.public() {
			continue
		}
		for _, n := range p.exported() {
			sel, ok := n.node.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			x, ok := sel.X.(*ast.Ident)
			if dir, known := s.imports(n.file)[fmt.Sprint(x)]; ok && known && !s.packages[dir].public() {
				out = append(out, fmt.Sprintf("%s: %s is an alias of %s.%s", s.fset.Position(n.pos), n.name, dir, sel.Sel.Name))
			}
		}
	}
	slices.Sort(out)
	return out
}

// unused returns the exported names of public packages that no other package, no test, no example
// and no other exported declaration of their package mentions. A value counts as used if its type
// is used.
func (s *Source) unused() []string {
	used := map[string]bool{} // folder + "." + name
	for dir, p := range s.packages {
		for _, f := range p.files {
			imports := s.imports(f)
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
						used[imports[x.Name]+"."+n.Sel.Name] = true
					}
				case *ast.Ident:
					if f.test {
						used[dir+"."+n.Name] = true
					}
				}
				return true
			})
		}
		s.mentioned(p, used)
	}
	var out []string
	for _, p := range s.packages {
		if !p.public() {
			continue
		}
		for _, n := range p.exported() {
			if !used[p.Dir+"."+n.name] && !(n.typ != "" && used[p.Dir+"."+n.typ]) {
				out = append(out, fmt.Sprintf("%s: %s.%s", s.fset.Position(n.pos), p.Name, n.name))
			}
		}
	}
	slices.Sort(out)
	return out
}

// codecs are the folders that read and write the messages of other systems.
var codecs = []string{"internal/wire/btcp", "internal/wire/pml"}

// uncalled returns the exported functions of codecs that only tests call. A codec that nothing
// calls is not part of the product.
func (s *Source) uncalled() []string {
	called := map[string]bool{} // folder + "." + name
	for dir, p := range s.packages {
		for _, f := range p.files {
			if f.test {
				continue
			}
			imports := s.imports(f)
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
						called[imports[x.Name]+"."+n.Sel.Name] = true
					}
				case *ast.CallExpr:
					if id, ok := n.Fun.(*ast.Ident); ok {
						called[dir+"."+id.Name] = true
					}
				}
				return true
			})
		}
	}
	var out []string
	for _, p := range s.packages {
		if !slices.Contains(codecs, p.Dir) {
			continue
		}
		for _, n := range p.exported() {
			if _, ok := n.node.(*ast.FuncType); ok && !called[p.Dir+"."+n.name] {
				out = append(out, fmt.Sprintf("%s: %s.%s", s.fset.Position(n.pos), p.Name, n.name))
			}
		}
	}
	slices.Sort(out)
	return out
}

// mentioned marks the types in the signatures, fields and elements of a package's exported
// declarations. They are part of the API even if no package writes their names.
func (s *Source) mentioned(p *Package, used map[string]bool) {
	mark := func(own string, node ast.Node) {
		ast.Inspect(node, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name != own {
				used[p.Dir+"."+id.Name] = true
			}
			return true
		})
	}
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() {
					mark(d.Name.Name, d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() {
						mark(spec.Name.Name, spec.Type)
					}
				}
			}
		}
	}
}

// scattered returns the types with methods in more than most files.
func (s *Source) scattered(most int) []string {
	var out []string
	for dir, p := range s.packages {
		in := map[string]map[string]bool{}
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv == nil {
					continue
				}
				t := receiver(fn.Recv.List[0].Type)
				if in[t] == nil {
					in[t] = map[string]bool{}
				}
				in[t][idea(f.name)] = true
			}
		}
		for t, files := range in {
			if len(files) > most {
				out = append(out, fmt.Sprintf("%s: %s has methods in %d files: %s", dir, t, len(files), strings.Join(slices.Sorted(maps.Keys(files)), ", ")))
			}
		}
	}
	slices.Sort(out)
	return out
}

// idea returns a file's name without the platforms. So x.go, x_js.go and x_other.go count as one
// file.
func idea(name string) string {
	return regexp.MustCompile(`(_(js|other|linux|wasm|unix|windows))*\.go$`).ReplaceAllString(name, "")
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// Words are the counts of a package's comments, without tests.
type Words struct{ All, What, Returns, Semicolons int }

func (w *Words) add(o Words) {
	w.All += o.All
	w.What += o.What
	w.Returns += o.Returns
	w.Semicolons += o.Semicolons
}

// per returns n per 1,000 words, and 0 if there are no words.
func (w Words) per(n int) float64 {
	if w.All == 0 {
		return 0
	}
	return float64(n) * 1000 / float64(w.All)
}

var (
	word    = regexp.MustCompile(`[\pL][\pL\pN'’_-]*`)
	what    = regexp.MustCompile(`(?i)\bwhat\b`)
	returns = regexp.MustCompile(`(?i)\b(returns?|returned|reports?|reported)\b`)
)

// words returns the counts of each package's comments by folder, without tests, directives and
// licences.
func (s *Source) words() map[string]Words {
	out := map[string]Words{}
	for dir, p := range s.packages {
		if strings.Contains(dir, "testdata") {
			continue
		}
		var w Words
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, g := range f.ast.Comments {
				text := g.Text() // directives such as //go:build are not in it
				if strings.Contains(text, "Copyright") {
					continue
				}
				w.add(count(text))
			}
		}
		if w.All > 0 {
			out[dir] = w
		}
	}
	return out
}

// undocumented returns the exported names of public packages without a comment, and the functions
// and types whose comment does not begin with their name.
func (s *Source) undocumented() []string {
	var out []string
	for _, p := range s.packages {
		if !p.public() {
			continue
		}
		for _, n := range p.exported() {
			first := strings.TrimLeft(n.doc, "\n ")
			for _, article := range []string{"A ", "An ", "The "} {
				first = strings.TrimPrefix(first, article)
			}
			_, value := n.node.(*ast.ValueSpec)
			if n.doc == "" || !value && !strings.HasPrefix(first, n.name) {
				out = append(out, fmt.Sprintf("%s: %s.%s", s.fset.Position(n.pos), p.Name, n.name))
			}
		}
	}
	slices.Sort(out)
	return out
}
