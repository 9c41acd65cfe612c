package fsaccess

import (
	"context"
	"path"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
)

// ignorer decides which entries the .gitignore files of a tree exclude. It reads each file
// once. It follows gitignore(5): the last matching line wins, "!" includes again, a
// trailing "/" matches folders only, a "/" elsewhere ties the pattern to the folder of its
// file, and "**" matches any number of folders.
type ignorer struct {
	ctx   context.Context
	c     core
	rules map[string][]ignoreRule // by folder

	budget jsx.Budget
}

// maxIgnore is the largest .gitignore that is read, in bytes.
const maxIgnore = 1 << 20

type ignoreRule struct {
	pattern string // relative to its folder; without "/" it matches at any depth
	negate  bool
	dirOnly bool
	tied    bool
}

func newIgnorer(ctx context.Context, c core, on bool) *ignorer {
	if !on {
		return nil
	}
	return &ignorer{ctx: ctx, c: c, rules: make(map[string][]ignoreRule)}
}

func (g *ignorer) of(dir string) []ignoreRule {
	r, ok := g.rules[dir]
	if !ok {
		name := join(dir, ".gitignore")
		if info, err := g.c.stat(g.ctx, name); err == nil && info.Size() <= maxIgnore {
			if data, err := g.c.readFile(g.ctx, name); err == nil && len(data) <= maxIgnore {
				r = g.parse(data)
			}
		}
		g.rules[dir] = r
	}
	return r
}

// skips reports whether an entry is excluded. The page runs between rules. If the context
// has ended, the result is meaningless, and the walk ends too.
func (g *ignorer) skips(name string, dir bool) bool {
	if g == nil {
		return false
	}
	if dir && path.Base(name) == ".git" {
		return true
	}
	// From the root down, so that the rule of a deeper file wins.
	skip := false
	at := "."
	for {
		rel := relative(at, name)
		for _, r := range g.of(at) {
			// At worst each byte of the rule is compared with each of the name.
			if g.budget.Steps(g.ctx, 8+len(r.pattern)*len(rel)/8) != nil {
				return true
			}
			if r.dirOnly && !dir || r.negate != skip {
				continue
			}
			if r.matches(rel) {
				skip = !r.negate
			}
		}
		i := strings.IndexByte(rel, '/')
		if i < 0 {
			return skip
		}
		at = join(at, rel[:i])
	}
}

func (r ignoreRule) matches(rel string) bool {
	if !r.tied {
		ok, _ := path.Match(r.pattern, path.Base(rel))
		return ok
	}
	return matchDeep(strings.Split(r.pattern, "/"), strings.Split(rel, "/"))
}

// matchDeep is path.Match by elements, where "**" matches any number of elements. Its work
// is at most the product of both lengths.
func matchDeep(pat, name []string) bool {
	star, back := -1, 0 // the last "**", and where in name it ends for now
	p, n := 0, 0
	for n < len(name) || p < len(pat) {
		switch {
		case p < len(pat) && pat[p] == "**":
			if p++; p == len(pat) {
				return n < len(name)
			}
			star, back = p, n
			continue
		case p < len(pat) && n < len(name):
			if ok, _ := path.Match(pat[p], name[n]); ok {
				p, n = p+1, n+1
				continue
			}
		}
		if star < 0 || back >= len(name) {
			return false
		}
		back++
		p, n = star, back
	}
	return true
}

func (g *ignorer) parse(data []byte) []ignoreRule {
	var out []ignoreRule
	for line := range strings.SplitSeq(string(data), "\n") {
		if g.budget.Steps(g.ctx, 8+len(line)/8) != nil {
			return nil
		}
		line = strings.TrimSuffix(line, "\r")
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " \t")
		}
		if line == "" || line[0] == '#' || len(line) > 1024 {
			continue
		}
		var r ignoreRule
		if line[0] == '!' {
			r.negate, line = true, line[1:]
		} else if strings.HasPrefix(line, `\!`) || strings.HasPrefix(line, `\#`) {
			line = line[1:]
		}
		if r.dirOnly = strings.HasSuffix(line, "/"); r.dirOnly {
			line = strings.TrimSuffix(line, "/")
		}
		r.tied = strings.Contains(line, "/")
		r.pattern = strings.TrimPrefix(line, "/")
		if strings.Count(r.pattern, "**") > 4 || r.pattern == "" {
			continue // more would make matching slow, and no real file has them
		}
		out = append(out, r)
	}
	return out
}
