package fsaccess

import (
	"context"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// ignorer decides which entries the .gitignore files of a tree exclude. It reads each file
// once. It follows gitignore(5): the last matching line wins, "!" includes again, a
// trailing "/" matches folders only, a "/" elsewhere ties the pattern to the folder of its
// file, and "**" matches any number of folders.
type ignorer struct {
	ctx   context.Context
	c     core.Core
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

func newIgnorer(ctx context.Context, c core.Core, on bool) *ignorer {
	if !on {
		return nil
	}
	return &ignorer{ctx: ctx, c: c, rules: make(map[string][]ignoreRule)}
}

func (g *ignorer) of(dir string) []ignoreRule {
	r, ok := g.rules[dir]
	if !ok {
		name := core.Join(dir, ".gitignore")
		if info, err := g.c.Stat(g.ctx, name); err == nil && info.Size() <= maxIgnore {
			if data, err := g.c.ReadFile(g.ctx, name); err == nil && len(data) <= maxIgnore {
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
		rel := core.Relative(at, name)
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
		at = core.Join(at, rel[:i])
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

// Entry is one line of a listing, with the facts that most callers need. A listing reads
// them for all files at once, which is faster than a Stat for each.
type Entry struct {
	Path    string
	Size    int64
	ModTime time.Time
	Dir     bool
	Link    bool // a symbolic link, which is no folder and cannot be read
}

// Name returns the last element of Path.
func (e Entry) Name() string { return path.Base(e.Path) }

// WalkOptions limits a walk. The zero value visits everything.
type WalkOptions struct {
	// Skip, if set, reports whether to leave out an entry and, for a folder, all below it.
	Skip func(Entry) bool
	// Depth is the number of levels below the root that are visited. 0 means all.
	Depth int
	// Limit is the maximum number of entries. 0 means no limit.
	Limit int
	// Gitignore leaves out .git and the entries that the .gitignore files of the tree
	// exclude. It ignores a .gitignore file of more than 1 MiB, a line of more than 1 KiB
	// and a pattern with more than four "**".
	Gitignore bool
}

// Walk yields all entries below root, each folder before its entries, and names in order.
// It reads ahead by pages, so memory stays small for any size of tree. If a folder cannot
// be listed, Walk yields an error with the path of the folder and continues.
func Walk(ctx context.Context, fsys FS, root string, o WalkOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := folderOf(ctx, fsys)
		p, err := f.enter(root)
		if err != nil {
			yield(Entry{Path: root}, pathErr("walk", root, err))
			return
		}
		w := &walkFilter{o: o, ignore: newIgnorer(ctx, f.c, o.Gitignore), root: p}
		prefix := f.dir
		failed := func(at string, err error) bool {
			return yield(Entry{Path: core.Relative(prefix, at)}, pathErr("walk", core.Relative(prefix, at), err))
		}
		var cut error
		err = core.WalkCore(ctx, f.c, p, core.PageSize, func(page []core.Entry) bool {
			for _, e := range page {
				if cut = context.Cause(ctx); cut != nil {
					return false
				}
				if e.Size == core.BadFolder {
					if !w.hidden(e.Path) && !failed(e.Path, core.WalkFailure(ctx, f.c, e.Path)) {
						return false
					}
					continue
				}
				if !w.wants(Entry(e)) {
					continue
				}
				e.Path = core.Relative(prefix, e.Path)
				if !yield(Entry(e), nil) {
					return false
				}
				if w.n++; o.Limit > 0 && w.n >= o.Limit {
					return false
				}
			}
			return true
		})
		if cut != nil {
			err = cut
		}
		if err != nil && err != core.ErrStop {
			yield(Entry{Path: root}, pathErr("walk", root, err))
		}
	}
}

type walkFilter struct {
	o      WalkOptions
	ignore *ignorer
	root   string
	skip   string // everything below this folder is left out
	n      int
}

func (w *walkFilter) hidden(name string) bool {
	return w.skip != "" && core.Within(w.skip, name)
}

func (w *walkFilter) wants(e Entry) bool {
	if w.hidden(e.Path) {
		return false
	}
	w.skip = ""
	if w.o.Depth > 0 && core.Depth(w.root, e.Path) > w.o.Depth ||
		w.ignore.skips(e.Path, e.Dir) || w.o.Skip != nil && w.o.Skip(e) {
		if e.Dir {
			w.skip = e.Path
		}
		return false
	}
	return true
}

// folderOf returns any FS as a Folder bound to ctx. A folder of a [Journal.Group] stays in its step.
func folderOf(ctx context.Context, fsys FS) *Folder {
	v := viewOf(fsys)
	v.ctx = core.InGroupOf(ctx, v.ctx)
	return &Folder{view: v}
}

// List returns the entries of one folder with sizes and times, sorted by name. To show the
// first names of a large folder at once, open the folder and call [File].ReadDir.
func List(ctx context.Context, fsys FS, dir string) ([]Entry, error) {
	var out []Entry
	for e, err := range listPages(ctx, fsys, dir, core.PageSize) {
		if err != nil {
			return nil, err
		}
		out = append(out, e...)
	}
	return out, nil
}

// listPages returns the entries of one folder in pages of at most page entries.
func listPages(ctx context.Context, fsys FS, dir string, page int) iter.Seq2[[]Entry, error] {
	return func(yield func([]Entry, error) bool) {
		f := folderOf(ctx, fsys)
		p, err := f.enter(dir)
		if err != nil {
			yield(nil, pathErr("list", dir, err))
			return
		}
		err = core.ListCore(ctx, f.c, p, max(1, page), func(es []core.Entry) bool {
			out := make([]Entry, len(es))
			for i, e := range es {
				e.Path = core.Relative(f.dir, e.Path)
				out[i] = Entry(e)
			}
			return yield(out, nil)
		})
		if err != nil && err != core.ErrStop {
			yield(nil, pathErr("list", dir, err))
		}
	}
}
