package files

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/worker/tools/internal/tool"
)

func ls(e *tool.Env) error {
	o, err := e.Options("laAR1hSrtdFp", "all=a almost-all=A recursive=R human-readable=h reverse=r directory=d")
	if err != nil {
		return err
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"."}
	}
	var files []fs.FileInfo
	var shown, dirs []string
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			e.Warn("cannot access '"+name+"'", err)
		case info.IsDir() && !o.Has('d'):
			dirs = append(dirs, name)
		default:
			files, shown = append(files, info), append(shown, name)
		}
	}
	printRows(e, o, files, shown)
	for i := 0; i < len(dirs); i++ {
		entries, err := os.ReadDir(dirs[i])
		if err != nil {
			e.Warn("cannot open directory '"+dirs[i]+"'", err)
			continue
		}
		if len(dirs) > 1 || len(files) > 0 || o.Has('R') {
			if i > 0 || len(files) > 0 {
				fmt.Fprintln(e.Stdout)
			}
			fmt.Fprintf(e.Stdout, "%s:\n", dirs[i])
		}
		var infos []fs.FileInfo
		var below []string
		for _, d := range entries {
			if strings.HasPrefix(d.Name(), ".") && !o.Has('a') && !o.Has('A') {
				continue
			}
			info, err := d.Info()
			if err != nil {
				continue
			}
			infos = append(infos, info)
			if info.IsDir() && o.Has('R') {
				below = append(below, strings.TrimSuffix(dirs[i], "/")+"/"+d.Name())
			}
		}
		dirs = slices.Insert(dirs, i+1, below...)
		printRows(e, o, infos, nil)
	}
	return nil
}

func printRows(e *tool.Env, o *tool.Opts, infos []fs.FileInfo, names []string) {
	type row struct {
		fs.FileInfo
		name string
	}
	rows := make([]row, len(infos))
	width := 0
	size := func(n int64) string {
		if o.Has('h') {
			return human(n)
		}
		return fmt.Sprint(n)
	}
	for i, info := range infos {
		rows[i] = row{info, info.Name()}
		if names != nil {
			rows[i].name = names[i]
		}
		width = max(width, len(size(info.Size())))
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		c := cmp.Compare(a.name, b.name)
		switch o.Last("St") {
		case 'S':
			c = cmp.Or(cmp.Compare(b.Size(), a.Size()), c)
		case 't':
			c = cmp.Or(b.ModTime().Compare(a.ModTime()), c)
		}
		if o.Has('r') {
			c = -c
		}
		return c
	})
	for _, r := range rows {
		name := r.name
		if r.IsDir() && (o.Has('F') || o.Has('p')) {
			name += "/"
		}
		if o.Has('l') {
			fmt.Fprintf(e.Stdout, "%s %*s %s %s\n", modeString(r.Mode()), width, size(r.Size()), stamp(r.ModTime()), name)
			continue
		}
		fmt.Fprintln(e.Stdout, name)
	}
}

func tree(e *tool.Env) error {
	o, err := e.Options("adfsL:I:", "all=a")
	if err != nil {
		return err
	}
	levels, err := e.Int(o, 'L', 1<<20)
	if err != nil {
		return err
	}
	roots := o.Args
	if len(roots) == 0 {
		roots = []string{"."}
	}
	dirs, files := 0, 0
	var walk func(dir, indent string, level int)
	walk = func(dir, indent string, level int) {
		if level > levels {
			return
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			e.Warn(dir, err)
			return
		}
		entries = slices.DeleteFunc(entries, func(d fs.DirEntry) bool {
			out := false
			for _, glob := range o.All('I') {
				for g := range strings.SplitSeq(glob, "|") {
					ok, _ := path.Match(g, d.Name())
					out = out || ok
				}
			}
			return out || strings.HasPrefix(d.Name(), ".") && !o.Has('a') || o.Has('d') && !d.IsDir()
		})
		for i, d := range entries {
			branch, next := "├── ", "│   "
			if i == len(entries)-1 {
				branch, next = "└── ", "    "
			}
			name, full := d.Name(), filepath.Join(dir, d.Name())
			if o.Has('f') {
				if name = full; dir == "." || strings.HasPrefix(dir, "./") {
					name = "./" + full
				}
			}
			if info, err := d.Info(); err == nil && o.Has('s') {
				name = fmt.Sprintf("[%11d]  %s", info.Size(), name)
			}
			fmt.Fprintln(e.Stdout, indent+branch+name)
			if d.IsDir() {
				dirs++
				walk(full, indent+next, level+1)
			} else {
				files++
			}
		}
	}
	for _, root := range roots {
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			fmt.Fprintf(e.Stdout, "%s  [error opening dir]\n", root)
			e.SetFailed()
			continue
		}
		dirs++ // tree 2 counts the root too
		fmt.Fprintln(e.Stdout, root)
		walk(root, "", 1)
	}
	plural := func(n int, one, more string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, more)
	}
	text := plural(dirs, "directory", "directories")
	if !o.Has('d') {
		text += ", " + plural(files, "file", "files")
	}
	fmt.Fprintf(e.Stdout, "\n%s\n", text)
	return nil
}

func du(e *tool.Env) error {
	o, err := e.Options("abchskd:", "all=a bytes=b apparent-size=A total=c human-readable=h summarize=s max-depth=d")
	if err != nil {
		return err
	}
	depth, err := e.Int(o, 'd', 1<<20)
	if err != nil {
		return err
	}
	if o.Has('s') {
		depth = 0
	}
	roots := o.Args
	if len(roots) == 0 {
		roots = []string{"."}
	}
	say := func(n int64, name string) {
		text := fmt.Sprint((n + 1023) / 1024)
		if o.Has('b') {
			text = fmt.Sprint(n)
		} else if o.Has('h') {
			text = human(n)
		}
		fmt.Fprintf(e.Stdout, "%s\t%s\n", text, name)
	}
	var walk func(name string, info fs.FileInfo, level int) int64
	walk = func(name string, info fs.FileInfo, level int) int64 {
		sum := int64(0)
		if info.IsDir() {
			entries, err := os.ReadDir(name)
			if err != nil {
				e.Warn("cannot read directory '"+name+"'", err)
			}
			for _, d := range entries {
				if info, err := d.Info(); err == nil {
					sum += walk(strings.TrimSuffix(name, "/")+"/"+d.Name(), info, level+1)
				}
			}
		} else {
			sum = info.Size()
		}
		if level <= depth && (info.IsDir() || o.Has('a') || level == 0) {
			say(sum, name)
		}
		return sum
	}
	total := int64(0)
	for _, root := range roots {
		info, err := os.Lstat(root)
		if err != nil {
			e.Warn("cannot access '"+root+"'", err)
			continue
		}
		total += walk(root, info, 0)
	}
	if o.Has('c') {
		say(total, "total")
	}
	return nil
}
