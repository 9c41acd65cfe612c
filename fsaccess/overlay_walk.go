package fsaccess

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
)

// pages is readDir as entries are found: first the few changed ones, then the rest.
func (o *overlay) pages(ctx context.Context, name string) (pager, error) {
	list, err := o.up.readDir(ctx, name)
	if err != nil && !notExist(err) {
		return nil, err
	}
	if o.hidden(name) {
		return &listPager{list: list}, nil
	}
	fi, err := o.low.stat(ctx, name)
	if notExist(err) || errors.Is(err, errNotDir) || err == nil && !fi.IsDir() {
		return &listPager{list: list}, nil
	}
	if err != nil {
		return nil, err
	}
	low, err := pagesOf(ctx, o.low, name)
	if err != nil {
		return nil, err
	}
	above := make(map[string]bool, len(list))
	for _, e := range list {
		above[e.Name()] = true
	}
	return &listPager{list, &sieve{low, func(e fs.DirEntry) bool {
		m := o.of(join(name, e.Name()))
		return !above[e.Name()] && (m == nil || !m.Gone)
	}}}, nil
}

// entries is readDir with sizes and times, from the packed listings of both folders.
func (o *overlay) entries(ctx context.Context, dir string) ([]Entry, error) {
	_, fi, err := o.side(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, errNotDir
	}
	list := func(c core) (out []Entry, err error) {
		err = listCore(ctx, c, dir, pageSize, func(page []Entry) bool {
			out = append(out, page...)
			return true
		})
		return out, err
	}
	up, err := list(o.up)
	if err != nil && !notExist(err) {
		return nil, err
	}
	if o.hidden(dir) {
		return up, nil
	}
	low, err := list(o.low)
	if err != nil && !notExist(err) && !errors.Is(err, errNotDir) {
		return nil, err
	}
	above := make(map[string]bool, len(up))
	for _, e := range up {
		above[e.Path] = true
	}
	for _, e := range low {
		if m := o.of(e.Path); !above[e.Path] && (m == nil || !m.Gone) {
			up = append(up, e)
		}
	}
	slices.SortFunc(up, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return up, nil
}

func (o *overlay) listPages(ctx context.Context, dir string, page int, yield func([]Entry) bool) error {
	entries, err := o.entries(ctx, dir)
	if err != nil {
		return err
	}
	for list := range slices.Chunk(entries, page) {
		if !yield(list) {
			return errStop
		}
	}
	return nil
}

func (o *overlay) walkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	buf := make([]Entry, 0, page)
	var visit func(dir string) error
	visit = func(dir string) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		entries, err := o.entries(ctx, dir)
		if err != nil && dir == root {
			return err
		}
		if err != nil {
			entries = []Entry{{Path: dir, Size: badFolder, Dir: true}}
		}
		for _, e := range entries {
			if buf = append(buf, e); len(buf) >= page {
				if !yield(buf) {
					return errStop
				}
				buf = buf[:0]
			}
			if e.Dir && e.Size != badFolder {
				if err := visit(e.Path); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := visit(root); err != nil {
		return err
	}
	if len(buf) > 0 && !yield(buf) {
		return errStop
	}
	return nil
}

func (o *overlay) keeping(ctx context.Context) context.Context {
	return keeping(keeping(ctx, o.low), o.up)
}

// readMany reads each file from the folder that contains it.
func (o *overlay) readMany(ctx context.Context, files []Entry) ([][]byte, error) {
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	above := map[string]bool{} // paths in the folders of files that the upper folder has
	asked := map[string]bool{}
	var parts [2][]Entry
	var at [2][]int
	for i, e := range files {
		if dir := parentOf(e.Path); !asked[dir] {
			asked[dir] = true
			list, err := o.up.readDir(ctx, dir)
			if err != nil && !notExist(err) {
				return nil, err
			}
			for _, x := range list {
				above[join(dir, x.Name())] = true
			}
		}
		k := 0
		if !above[e.Path] {
			if o.hidden(e.Path) {
				continue // removed since it was listed
			}
			k = 1
		}
		parts[k], at[k] = append(parts[k], e), append(at[k], i)
	}
	out := make([][]byte, len(files))
	for k, c := range []core{o.up, o.low} {
		if len(parts[k]) == 0 {
			continue
		}
		read, err := readMany(ctx, c, parts[k])
		if err != nil || len(read) != len(parts[k]) {
			continue // the caller reads these one by one
		}
		for n, i := range at[k] {
			out[i] = read[n]
		}
	}
	return out, nil
}
