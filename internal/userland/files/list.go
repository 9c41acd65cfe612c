package files

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/internal/userland/when"
)

func ls(e *tool.Env) error {
	o, err := e.Options("laAR1hSrtdFpXmigonUBCxQNZqs6::7:8:9::cuGHLvkI:0:", "all=a almost-all=A recursive=R human-readable=h reverse=r directory=d classify=F color=6 time-style=7 sort=8 group-directories-first=9 numeric-uid-gid=n inode=i no-group=G ignore-backups=B ignore=I size=s quote-name=Q literal=N format=0")
	if err != nil {
		return err
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"."}
	}
	var files, dirs []row
	for _, name := range names {
		look := e.World.Stat
		if !o.Has('L') && !o.Has('H') && (o.Last("lgon") != 0 || o.Has('d') || o.Has('F')) && !strings.HasSuffix(name, "/") {
			look = e.World.Lstat
		}
		info, err := look(name)
		if errors.Is(err, fs.ErrNotExist) {
			info, err = e.World.Lstat(name) // a link that leads to nothing
		}
		switch {
		case err != nil:
			e.Warn("cannot access '"+name+"'", err)
		case info.IsDir() && !o.Has('d'):
			dirs = append(dirs, row{info, name, name})
		default:
			files = append(files, row{info, name, name})
		}
	}
	l := &lister{e: e, o: o, now: time.Now()}
	l.print(files, false)
	l.sort(dirs)
	pending := make([]string, 0, len(dirs))
	for _, d := range dirs {
		pending = append(pending, d.name)
	}
	titles := len(names) > 1 || o.Has('R')
	for i := 0; i < len(pending); i++ {
		list, err := e.World.ReadDir(pending[i])
		if err != nil {
			e.Warn("cannot open directory '"+pending[i]+"'", err)
			continue
		}
		if titles {
			if i > 0 || len(files) > 0 {
				fmt.Fprintln(e.Stdout)
			}
			fmt.Fprintf(e.Stdout, "%s:\n", pending[i])
		}
		var rows []row
		if o.Has('a') {
			for _, name := range []string{".", ".."} {
				if info, err := e.World.Stat(path.Join(pending[i], name)); err == nil {
					rows = append(rows, row{info, name, name})
				} else if info, err := e.World.Stat(pending[i]); err == nil {
					rows = append(rows, row{info, name, name})
				}
			}
		}
		for _, info := range list {
			e.World.Spend(256)
			if strings.HasPrefix(info.Name(), ".") && !o.Has('a') && !o.Has('A') || o.Has('B') && strings.HasSuffix(info.Name(), "~") || ignored(o.All('I'), info.Name()) {
				continue
			}
			at := tool.Join(pending[i], info.Name())
			if o.Has('L') && tool.IsLink(info) {
				if to, err := e.World.Stat(at); err == nil {
					info = renamed{to, info.Name()}
				}
			}
			rows = append(rows, row{info, info.Name(), at})
		}
		l.print(rows, true)
		var below []string
		for _, r := range rows {
			if r.IsDir() && o.Has('R') && r.name != "." && r.name != ".." {
				below = append(below, tool.Join(pending[i], r.name))
			}
		}
		pending = slices.Insert(pending, i+1, below...)
	}
	return nil
}

func ignored(globs []string, name string) bool {
	for _, g := range globs {
		if ok, _ := path.Match(g, name); ok {
			return true
		}
	}
	return false
}

type row struct {
	fs.FileInfo
	name string
	at   string // the whole name
}

type lister struct {
	e   *tool.Env
	o   *tool.Opts
	now time.Time
}

func (l *lister) sort(rows []row) {
	o := l.o
	by := o.Last("StXUvc")
	switch o.Value('8') {
	case "size":
		by = 'S'
	case "time":
		by = 't'
	case "extension":
		by = 'X'
	case "none":
		by = 'U'
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		l.e.World.Spend(64)
		if o.Has('9') && a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		c := cmp.Compare(a.name, b.name)
		switch by {
		case 'S':
			c = cmp.Or(cmp.Compare(size(b), size(a)), c)
		case 't', 'c':
			c = cmp.Or(b.ModTime().Compare(a.ModTime()), c)
		case 'X':
			c = cmp.Or(cmp.Compare(extension(a.name), extension(b.name)), c)
		case 'U':
			return 0
		}
		if o.Has('r') {
			c = -c
		}
		return c
	})
}

func extension(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[i:]
	}
	return ""
}

// size is the size that ls shows. That of a folder is not known here.
func size(r row) int64 {
	if r.IsDir() {
		return 4096
	}
	return r.Size()
}

// print prints rows, which it sorts. total is for the content of a folder.
func (l *lister) print(rows []row, total bool) {
	l.sort(rows)
	o, out := l.o, l.e.Stdout
	long := o.Last("lgon") != 0
	text := func(n int64) string {
		if o.Has('h') {
			return human(n)
		}
		return fmt.Sprint(n)
	}
	width, blocks := 0, int64(0)
	for _, r := range rows {
		width = max(width, len(text(size(r))))
		blocks += (size(r) + 4095) / 4096 * 4
	}
	if long && total {
		if o.Has('h') {
			fmt.Fprintf(out, "total %s\n", human(blocks<<10))
		} else {
			fmt.Fprintf(out, "total %d\n", blocks)
		}
	}
	if o.Has('m') && len(rows) > 0 {
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = l.name(r)
		}
		fmt.Fprintln(out, strings.Join(names, ", "))
		return
	}
	for _, r := range rows {
		if o.Has('i') {
			fmt.Fprint(out, "1 ")
		}
		if o.Has('s') {
			fmt.Fprintf(out, "%d ", (size(r)+4095)/4096*4)
		}
		if long {
			links := 1
			if r.IsDir() {
				links = 2
			}
			who := owner + " " + owner
			switch {
			case o.Has('n'):
				who = "1000 1000"
			case o.Has('g') && o.Has('o'):
				who = ""
			case o.Has('g') || o.Has('o') || o.Has('G'):
				who = owner
			}
			if who != "" {
				who += " "
			}
			fmt.Fprintf(out, "%s %d %s%*s %s ", modeString(r.Mode()), links, who, width, text(size(r)), l.time(r.ModTime()))
		}
		fmt.Fprint(out, l.name(r))
		if long && tool.IsLink(r.FileInfo) {
			if to, err := l.e.World.Readlink(r.at); err == nil {
				fmt.Fprint(out, " -> "+to)
			}
		}
		fmt.Fprintln(out)
	}
}

func (l *lister) time(t time.Time) string {
	t = t.UTC()
	switch style := l.o.Value('7'); {
	case strings.HasPrefix(style, "+"):
		s, _ := when.Format(t, style[1:])
		return s
	case style == "long-iso":
		return t.Format("2006-01-02 15:04")
	case style == "full-iso":
		return t.Format("2006-01-02 15:04:05.000000000 -0700")
	case style == "iso" && l.recent(t):
		return t.Format("01-02 15:04")
	case style == "iso":
		return t.Format("2006-01-02 ")
	case l.recent(t):
		return t.Format("Jan _2 15:04")
	}
	return t.Format("Jan _2  2006")
}

// recent reports whether ls shows the time of day.
func (l *lister) recent(t time.Time) bool {
	return !t.After(l.now) && l.now.Sub(t) < 31556952/2*time.Second
}

func (l *lister) name(r row) string {
	name := r.name
	if l.o.Has('Q') {
		name = `"` + name + `"`
	}
	if r.IsDir() && (l.o.Has('F') || l.o.Has('p')) {
		return name + "/"
	}
	if l.o.Has('F') {
		switch {
		case tool.IsLink(r.FileInfo) && l.o.Last("lgon") != 0:
			return name
		case tool.IsLink(r.FileInfo):
			return name + "@"
		case r.Mode()&0o111 != 0:
			return name + "*"
		}
	}
	return name
}

func tree(e *tool.Env) error {
	o, err := e.Options("adfsL:I:P:1ipFhD", "noreport=1 dirsfirst=2")
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
		entries, err := e.World.ReadDir(dir)
		if err != nil {
			e.Warn(dir, err)
			return
		}
		entries = slices.DeleteFunc(entries, func(d fs.FileInfo) bool {
			out := false
			for _, glob := range o.All('I') {
				for g := range strings.SplitSeq(glob, "|") {
					ok, _ := path.Match(g, d.Name())
					out = out || ok
				}
			}
			if o.Has('P') && !d.IsDir() {
				ok, _ := path.Match(o.Value('P'), d.Name())
				out = out || !ok
			}
			return out || strings.HasPrefix(d.Name(), ".") && !o.Has('a') || o.Has('d') && !d.IsDir()
		})
		for i, d := range entries {
			e.World.Spend(256)
			branch, next := "├── ", "│\u00a0\u00a0 "
			if i == len(entries)-1 {
				branch, next = "└── ", "    "
			}
			if o.Has('i') {
				branch, next = "", ""
			}
			name, full := d.Name(), tool.Join(dir, d.Name())
			if o.Has('f') {
				name = full
			}
			if o.Has('s') {
				name = fmt.Sprintf("[%11d]  %s", d.Size(), name)
			}
			if o.Has('F') && d.IsDir() {
				name += "/"
			}
			if tool.IsLink(d) {
				if to, err := e.World.Readlink(full); err == nil {
					name += " -> " + to
				}
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
		if !e.IsDir(root) {
			fmt.Fprintf(e.Stdout, "%s  [error opening dir]\n", root)
			e.SetFailed()
			continue
		}
		dirs++ // tree 2 counts the root too
		fmt.Fprintln(e.Stdout, root)
		walk(root, "", 1)
	}
	if o.Has('1') {
		return nil
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
	o, err := e.Options("abchskmxLd:1A2:", "all=a bytes=b apparent-size=A total=c human-readable=h summarize=s max-depth=d exclude=2")
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
	bytes := o.Has('b') || o.Has('A')
	weigh := func(info fs.FileInfo) int64 {
		switch {
		case info.IsDir():
			return 4096
		case bytes:
			return info.Size()
		}
		return (info.Size() + 4095) / 4096 * 4096
	}
	say := func(n int64, name string) {
		text := fmt.Sprint((n + 1023) / 1024)
		switch {
		case o.Has('b'):
			text = fmt.Sprint(n)
		case o.Has('h'):
			text = human(n)
		case o.Has('m'):
			text = fmt.Sprint((n + 1<<20 - 1) >> 20)
		}
		fmt.Fprintf(e.Stdout, "%s\t%s\n", text, name)
	}
	var walk func(name string, info fs.FileInfo, level int) int64
	walk = func(name string, info fs.FileInfo, level int) int64 {
		e.World.Spend(256)
		sum := weigh(info)
		if info.IsDir() {
			entries, err := e.World.ReadDir(name)
			if err != nil {
				e.Warn("cannot read directory '"+name+"'", err)
			}
			for _, sub := range entries {
				if !ignored(o.All('2'), sub.Name()) {
					sum += walk(tool.Join(name, sub.Name()), sub, level+1)
				}
			}
		}
		if level <= depth && (info.IsDir() || o.Has('a') || level == 0) {
			say(sum, name)
		}
		return sum
	}
	total := int64(0)
	for _, root := range roots {
		info, err := e.World.Lstat(root)
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
