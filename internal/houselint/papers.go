package main

import (
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A paper is one Markdown file for readers, and the counts of its prose.
type paper struct {
	name  string
	words Words
}

// over reports whether a count is over its limit per 1,000 words. One is allowed in a paper of any length.
func (w Words) over(n int, limit float64) bool { return n > 1 && w.per(n) > limit }

// papers returns the counts of the Markdown files of a root folder, without the change log, of all files below docs, and of
// the page of the wire. A missing folder has none.
func papers(root string) ([]paper, error) {
	names, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"docs", "internal/wire"} {
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(name string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err == nil && !d.IsDir() && filepath.Ext(name) == ".md" {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	all := map[string]Words{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		if rel != "CHANGELOG.md" {
			all[filepath.ToSlash(rel)] = count(prose(string(text)))
		}
	}
	var out []paper
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, paper{name, all[name]})
	}
	return out, nil
}

var (
	codeSpan   = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
)

// prose returns a Markdown text without blocks of code, spans of code and the addresses of links.
func prose(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if fenced || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
			continue
		}
		b.WriteString(linkTarget.ReplaceAllString(codeSpan.ReplaceAllString(line, " "), "]"))
	}
	return b.String()
}

// count returns the counts of a text.
func count(text string) Words {
	return Words{All: len(word.FindAllString(text, -1)), What: len(what.FindAllString(text, -1)), Returns: len(returns.FindAllString(text, -1)), Semicolons: strings.Count(text, ";")}
}

// texts returns the counts of the literals that are the first text of errors.New, fmt.Errorf and their like, in code that is
// no test. Words on a page are in HTML, JavaScript and Go, and in literals that look like any other, so they are not counted.
func (s *Source) texts() (all Words) {
	for _, p := range s.packages {
		for _, f := range p.files {
			if f.test || strings.Contains(p.Dir, "testdata") {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !strings.HasSuffix(strings.ToLower(callee(call.Fun)), "errorf") && callee(call.Fun) != "errors.New" {
					return true
				}
				for _, arg := range call.Args {
					if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						text, _ := strconv.Unquote(lit.Value) // the parser has read it
						all.add(count(text))
						break
					}
				}
				return true
			})
		}
	}
	return all
}

// callee returns the name of a called function, "" if it has none.
func callee(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return callee(f.X) + "." + f.Sel.Name
	}
	return ""
}
