package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/internal/userland/when"
)

func quoted(name string) string { return "'" + name + "'" }

func mkdir(e *tool.Env) error {
	o, err := e.Operands("pvm:", "parents=p verbose=v mode=m")
	if err != nil {
		return err
	}
	for _, name := range o.Args {
		var made []string
		for at := path.Clean(name); o.Has('v') && o.Has('p') && at != "." && at != "/" && !e.IsDir(at); at = path.Dir(at) {
			made = append([]string{at}, made...)
		}
		if err := e.World.Mkdir(name, o.Has('p')); err != nil {
			e.Warn("cannot create directory "+quoted(name), err)
			continue
		}
		if o.Has('m') {
			if err := chmodTo(e, name, o.Value('m')); err != nil {
				e.Warn(name, err)
			}
		}
		if o.Has('v') && !o.Has('p') {
			made = []string{name}
		}
		for _, m := range made {
			fmt.Fprintf(e.Stdout, "%s: created directory %s\n", e.Name, quoted(m))
		}
	}
	return nil
}

func rmdir(e *tool.Env) error {
	o, err := e.Operands("pv1", "parents=p verbose=v ignore-fail-on-non-empty=1")
	if err != nil {
		return err
	}
	for _, name := range o.Args {
		for at := strings.TrimRight(name, "/"); ; at = path.Dir(at) {
			list, err := e.World.ReadDir(at)
			if err == nil && len(list) > 0 {
				err = syscall.ENOTEMPTY
				if o.Has('1') {
					break
				}
			}
			if err == nil {
				err = e.World.Remove(at, false)
			} else if info, bad := e.World.Lstat(at); bad == nil && !info.IsDir() {
				err = syscall.ENOTDIR
			}
			if err != nil {
				e.Warn("failed to remove "+quoted(at), err)
				break
			}
			if o.Has('v') {
				fmt.Fprintf(e.Stdout, "%s: removing directory, %s\n", e.Name, quoted(at))
			}
			if next := path.Dir(at); !o.Has('p') || next == "." || next == "/" {
				break
			}
		}
	}
	return nil
}

func rm(e *tool.Env) error {
	o, err := e.Options("rRfdvi", "recursive=r force=f dir=d verbose=v interactive=i")
	if err != nil {
		return err
	}
	if len(o.Args) == 0 {
		if o.Has('f') {
			return nil
		}
		return e.Usagef("missing operand")
	}
	all := o.Has('r') || o.Has('R')
	for _, name := range o.Args {
		clean := strings.TrimRight(name, "/")
		if base := path.Base(clean); base == "." || base == ".." || clean == "" || e.Abs(clean) == "/" {
			e.Errorf("refusing to remove '.' or '..' directory: skipping %s", quoted(name))
			continue
		}
		info, err := e.World.Lstat(clean)
		if errors.Is(err, fs.ErrNotExist) {
			if !o.Has('f') {
				e.Warn("cannot remove "+quoted(name), err)
			}
			continue
		}
		// Leave to remove is no leave to look, and the other way round: without a look the world decides.
		dir := err == nil && info.IsDir() || err != nil && all
		if dir && !all {
			if !o.Has('d') {
				e.Warn("cannot remove "+quoted(name), syscall.EISDIR)
				continue
			}
			if list, err := e.World.ReadDir(clean); err == nil && len(list) > 0 {
				e.Warn("cannot remove "+quoted(name), syscall.ENOTEMPTY)
				continue
			}
		}
		if o.Last("fi") == 'i' && !agreed(e, "remove "+quoted(name)) {
			continue
		}
		var gone []string
		if o.Has('v') {
			gone = removals(e, clean)
		}
		if err := e.World.Remove(clean, all && dir); err != nil {
			if !(o.Has('f') && errors.Is(err, fs.ErrNotExist)) {
				e.Warn("cannot remove "+quoted(name), err)
			}
			continue
		}
		for _, line := range gone {
			fmt.Fprintln(e.Stdout, line)
		}
	}
	return nil
}

// removals returns the lines of rm -v, the content of a folder before the folder.
func removals(e *tool.Env, root string) (out []string) {
	var walk func(name string, dir bool)
	walk = func(name string, dir bool) {
		if !dir {
			out = append(out, "removed "+quoted(name))
			return
		}
		list, _ := e.World.ReadDir(name)
		for _, info := range list {
			walk(tool.Join(name, info.Name()), info.IsDir())
		}
		out = append(out, "removed directory "+quoted(name))
	}
	walk(root, e.IsDir(root))
	return out
}

// operands returns the sources and the target of cp, mv and ln. into reports that the target is a folder.
func operands(e *tool.Env, o *tool.Opts) (from []string, to string, into bool, err error) {
	from = o.Args
	if o.Has('t') {
		to = o.Value('t')
		if !e.IsDir(to) {
			return nil, "", false, tool.Errorf("target directory %s: No such file or directory", quoted(to))
		}
		if len(from) == 0 {
			return nil, "", false, e.Usagef("missing file operand")
		}
		return from, to, true, nil
	}
	if len(from) == 0 {
		return nil, "", false, e.Usagef("missing file operand")
	}
	if len(from) == 1 {
		return nil, "", false, e.Usagef("missing destination file operand after %s", quoted(from[0]))
	}
	from, to = from[:len(from)-1], from[len(from)-1]
	into = !o.Has('T') && e.IsDir(to)
	if len(from) > 1 && !into {
		return nil, "", false, tool.Errorf("target %s: No such file or directory", quoted(to))
	}
	if strings.HasSuffix(to, "/") && !into && len(from) == 1 && !e.IsDir(from[0]) {
		return nil, "", false, tool.Errorf("cannot create regular file %s: Not a directory", quoted(to))
	}
	return from, to, into, nil
}

// keeps reports whether -n or -u leaves the target as it is.
func keeps(e *tool.Env, o *tool.Opts, from, to string) bool {
	info, err := e.World.Stat(to)
	if err != nil {
		return false
	}
	switch o.Last("nfi") {
	case 'n':
		return true
	case 'i':
		return !agreed(e, "overwrite "+quoted(to))
	}
	if o.Has('u') {
		if src, err := e.World.Stat(from); err == nil && !src.ModTime().After(info.ModTime()) {
			return true
		}
	}
	return false
}

// agreed asks for a line of the input that begins with y, for -i. The end of the input is a no.
func agreed(e *tool.Env, question string) bool {
	e.Stdout.Flush()
	fmt.Fprintf(e.Stderr, "%s: %s? ", e.Name, question)
	yes, begin := false, true
	var c [1]byte
	for {
		n, err := e.Stdin.Read(c[:])
		e.World.Spend(64)
		if n > 0 && c[0] == '\n' || err != nil {
			return yes
		}
		if n > 0 {
			if begin {
				yes = c[0] == 'y' || c[0] == 'Y'
			}
			begin = false
		}
	}
}

// saved keeps the target of -b under its name and a ~.
func saved(e *tool.Env, o *tool.Opts, to string) error {
	suffix := "~"
	if o.Has('S') {
		suffix = o.Value('S')
	}
	if !o.Has('b') && !o.Has('S') {
		return nil
	}
	if _, err := e.World.Lstat(to); err != nil {
		return nil
	}
	return e.World.Rename(to, to+suffix)
}

const changeLong = "recursive=r force=f no-clobber=n verbose=v update=u target-directory=t no-target-directory=T archive=a interactive=i parents=1 preserve=2 backup=b suffix=S dereference=L no-dereference=P"

func mv(e *tool.Env) error {
	o, err := e.Options("fnivut:TbS:", changeLong)
	if err != nil {
		return err
	}
	from, to, into, err := operands(e, o)
	if err != nil {
		return err
	}
	for _, name := range from {
		at := to
		if into {
			at = tool.Join(to, path.Base(name))
		}
		info, err := e.World.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			e.Warn("cannot stat "+quoted(name), err)
			continue
		}
		dir := err == nil && info.IsDir() // a name that may not be looked at is decided about by the world
		a, b := e.Abs(name), e.Abs(at)
		switch {
		case a == b:
			e.Errorf("%s and %s are the same file", quoted(name), quoted(at))
			continue
		case dir && strings.HasPrefix(b, a+"/"):
			e.Errorf("cannot move %s to a subdirectory of itself, %s", quoted(name), quoted(at))
			continue
		case !dir && e.IsDir(at):
			e.Errorf("cannot overwrite directory %s with non-directory", quoted(at))
			continue
		case keeps(e, o, name, at):
			continue
		}
		err = saved(e, o, at)
		if err == nil {
			err = e.World.Rename(name, at)
		}
		if err != nil {
			e.Warn("cannot move "+quoted(name)+" to "+quoted(at), err)
		} else if o.Has('v') {
			fmt.Fprintf(e.Stdout, "renamed %s -> %s\n", quoted(name), quoted(at))
		}
	}
	return nil
}

func cp(e *tool.Env) error {
	o, err := e.Options("rRafnivput:TbS:12::dLPHlsx", changeLong)
	if err != nil {
		return err
	}
	if o.Has('l') || o.Has('s') {
		return e.Usagef("-l and -s are not here; use ln")
	}
	from, to, into, err := operands(e, o)
	if err != nil {
		return err
	}
	c := &copier{e: e, o: o, all: o.Last("rRa") != 0, keep: o.Last("pa2") != 0}
	for _, name := range from {
		at := to
		if into {
			at = tool.Join(to, path.Base(strings.TrimRight(name, "/")))
			if base := path.Base(name); base == "." || base == ".." {
				at = to
			}
			if o.Has('1') {
				at = tool.Join(to, strings.TrimLeft(name, "/"))
				if err := e.World.Mkdir(path.Dir(at), true); err != nil {
					e.Warn(at, err)
					continue
				}
			}
		}
		look := e.World.Stat
		if last := o.Last("rRadLPH"); last != 0 && last != 'L' && last != 'H' && !strings.HasSuffix(name, "/") {
			look = e.World.Lstat
		}
		info, err := look(name)
		if err != nil {
			e.Warn("cannot stat "+quoted(name), err)
			continue
		}
		a, b := e.Abs(name), e.Abs(at)
		switch {
		case a == b:
			e.Errorf("%s and %s are the same file", quoted(name), quoted(at))
		case info.IsDir() && !c.all:
			e.Errorf("-r not specified; omitting directory %s", quoted(name))
		case info.IsDir() && (strings.HasPrefix(b, a+"/") || a == "/"):
			e.Errorf("cannot copy a directory, %s, into itself, %s", quoted(name), quoted(at))
		default:
			c.copy(name, at, info)
		}
	}
	return nil
}

type copier struct {
	e         *tool.Env
	o         *tool.Opts
	all, keep bool
}

func (c *copier) copy(from, to string, info fs.FileInfo) {
	e := c.e
	e.World.Spend(512)
	if info.IsDir() {
		if !e.IsDir(to) {
			if err := e.World.Mkdir(to, false); err != nil {
				e.Warn("cannot create directory "+quoted(to), err)
				return
			}
			c.say(from, to)
		}
		list, err := e.World.ReadDir(from)
		if err != nil {
			e.Warn("cannot access "+quoted(from), err)
		}
		for _, sub := range list {
			if tool.IsLink(sub) && c.o.Has('L') {
				if info, err := e.World.Stat(tool.Join(from, sub.Name())); err == nil {
					sub = renamed{info, sub.Name()}
				}
			}
			c.copy(tool.Join(from, sub.Name()), tool.Join(to, sub.Name()), sub)
		}
		return
	}
	if keeps(e, c.o, from, to) {
		return
	}
	if e.IsDir(to) {
		e.Errorf("cannot overwrite directory %s with non-directory", quoted(to))
		return
	}
	err := saved(e, c.o, to)
	if tool.IsLink(info) {
		c.link(from, to, err)
		return
	}
	var data []byte
	if err == nil {
		data, err = e.ReadAll(from)
	}
	_, missing := e.World.Lstat(to)
	if err == nil {
		err = e.Replace(to, data)
	}
	if err != nil {
		e.Warn("cannot create regular file "+quoted(to), err)
		return
	}
	if missing != nil && info.Mode()&0o111 != 0 || c.keep {
		_ = e.World.Chmod(to, info.Mode().Perm()) // where the file system keeps modes
	}
	if c.keep {
		_ = e.World.Chtimes(to, info.ModTime())
	}
	c.say(from, to)
}

// renamed is the information of a file under another name.
type renamed struct {
	fs.FileInfo
	name string
}

func (r renamed) Name() string { return r.name }

// link copies a link itself.
func (c *copier) link(from, to string, err error) {
	target := ""
	if err == nil {
		target, err = c.e.World.Readlink(from)
	}
	if _, there := c.e.World.Lstat(to); err == nil && there == nil {
		err = c.e.World.Remove(to, false)
	}
	if err == nil {
		err = c.e.World.Link(target, to, true)
	}
	if err != nil {
		c.e.Warn("cannot create symbolic link "+quoted(to), err)
		return
	}
	c.say(from, to)
}

func (c *copier) say(from, to string) {
	if c.o.Has('v') {
		fmt.Fprintf(c.e.Stdout, "%s -> %s\n", quoted(from), quoted(to))
	}
}

func touch(e *tool.Env) error {
	o, err := e.Options("camhd:t:r:", "no-create=c date=d reference=r time=3 no-dereference=h")
	if err != nil {
		return err
	}
	if len(o.Args) == 0 {
		return e.Usagef("missing file operand")
	}
	t, given := time.Now(), true
	switch {
	case o.Has('d'):
		t, err = when.Parse(o.Value('d'), time.Now())
	case o.Has('t'):
		t, err = stampTime(o.Value('t'))
	case o.Has('r'):
		var info fs.FileInfo
		if info, err = e.World.Stat(o.Value('r')); err == nil {
			t = info.ModTime()
		}
	default:
		given = false
	}
	if err != nil {
		return err
	}
	for _, name := range o.Args {
		_, err := e.World.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			if o.Has('c') {
				continue
			}
			if _, missing := e.World.Stat(path.Dir(name)); errors.Is(missing, fs.ErrNotExist) { // a folder of the page would make it
				e.Warn("cannot touch "+quoted(name), missing)
				continue
			}
			err = e.Replace(name, nil)
			if !given && err == nil {
				continue
			}
		}
		if err == nil {
			err = e.World.Chtimes(name, t)
			if errors.Is(err, errors.ErrUnsupported) && !given {
				err = nil // the file is there, which is most often the purpose
			}
		}
		if err != nil {
			e.Warn("cannot touch "+quoted(name), err)
		}
	}
	return nil
}

// stampTime parses the form [[CC]YY]MMDDhhmm[.ss].
func stampTime(text string) (time.Time, error) {
	body, sec, _ := strings.Cut(text, ".")
	if sec == "" {
		sec = "00"
	}
	switch len(body) {
	case 8:
		body = time.Now().UTC().Format("2006") + body
	case 10:
		body = "20" + body
	}
	t, err := time.Parse("20060102150405", body+sec)
	if err != nil {
		return t, tool.Errorf("invalid date format %s", quoted(text))
	}
	return t, nil
}

func ln(e *tool.Env) error {
	o, err := e.Options("sfvnt:Tbrih", "symbolic=s force=f verbose=v no-dereference=n target-directory=t no-target-directory=T relative=r")
	if err != nil {
		return err
	}
	if len(o.Args) == 1 {
		o.Args = append(o.Args, ".")
	}
	from, to, into, err := operands(e, o)
	if err != nil {
		return err
	}
	if info, err := e.World.Lstat(to); o.Has('n') && err == nil && tool.IsLink(info) {
		into = false // a link to a folder is the link itself
	}
	for _, name := range from {
		at := to
		if into {
			at = tool.Join(to, path.Base(name))
		}
		if o.Has('r') && o.Has('s') {
			name = relative(path.Dir(e.Abs(at)), e.Abs(name))
		}
		if _, err := e.World.Lstat(at); err == nil {
			if !o.Has('f') {
				e.Errorf("failed to create %s link %s: File exists", map[bool]string{true: "symbolic", false: "hard"}[o.Has('s')], quoted(at))
				continue
			}
			if err := e.World.Remove(at, false); err != nil {
				e.Warn(at, err)
				continue
			}
		}
		if err := e.World.Link(name, at, o.Has('s')); err != nil {
			e.Warn("failed to create link "+quoted(at), err)
		} else if o.Has('v') {
			fmt.Fprintf(e.Stdout, "%s -> %s\n", quoted(at), quoted(name))
		}
	}
	return nil
}

func chmod(e *tool.Env) error {
	// A mode such as -x looks like an option.
	args, mode := []string{}, ""
	all, verbose := false, false
	for _, a := range e.Args {
		switch {
		case a == "--help":
			_, err := e.Options("", "")
			return err
		case a == "-R" || a == "--recursive":
			all = true
		case a == "-v" || a == "-c" || a == "-f":
			verbose = a != "-f"
		case strings.HasPrefix(a, "--reference=") && mode == "":
			info, err := e.World.Stat(a[len("--reference="):])
			if err != nil {
				return err
			}
			mode = fmt.Sprintf("%o", info.Mode().Perm())
		case mode == "" && a != "--":
			mode = a
		case a != "--":
			args = append(args, a)
		}
	}
	if mode == "" || len(args) == 0 {
		return e.Usagef("missing operand")
	}
	if _, err := newMode(mode, 0o644, false); err != nil {
		return err
	}
	for _, name := range args {
		one := func(name string) {
			if err := chmodTo(e, name, mode); err != nil {
				e.Warn("changing permissions of "+quoted(name), err)
			} else if verbose {
				fmt.Fprintf(e.Stdout, "mode of %s changed\n", quoted(name))
			}
		}
		if !all {
			one(name)
			continue
		}
		_ = e.Walk(name, func(name string, info fs.FileInfo, err error) error {
			if err != nil {
				e.Warn("cannot access "+quoted(name), err)
			} else if !tool.IsLink(info) { // a link's own permissions mean nothing
				one(name)
			}
			return nil
		})
	}
	return nil
}

func chmodTo(e *tool.Env, name, mode string) error {
	info, err := e.World.Stat(name)
	if err != nil {
		return err
	}
	m, err := newMode(mode, info.Mode().Perm(), info.IsDir())
	if err != nil {
		return err
	}
	return e.World.Chmod(name, m)
}

// newMode applies a mode such as 755, u+x or go-w to old.
func newMode(text string, old fs.FileMode, dir bool) (fs.FileMode, error) {
	if n, err := strconv.ParseUint(text, 8, 16); err == nil && n <= 0o7777 {
		return fs.FileMode(n) & fs.ModePerm, nil
	}
	bad := tool.Errorf("invalid mode: %s", quoted(text))
	for part := range strings.SplitSeq(text, ",") {
		i := strings.IndexAny(part, "+-=")
		if i < 0 {
			return 0, bad
		}
		who := part[:i]
		if who == "" || strings.Contains(who, "a") {
			who = "ugo"
		}
		op, bits := part[i], fs.FileMode(0)
		for _, c := range part[i+1:] {
			switch c {
			case 'r':
				bits |= 4
			case 'w':
				bits |= 2
			case 'x':
				bits |= 1
			case 'X':
				if dir || old&0o111 != 0 {
					bits |= 1
				}
			case 's', 't':
			default:
				return 0, bad
			}
		}
		for _, w := range who {
			shift, ok := map[rune]int{'u': 6, 'g': 3, 'o': 0}[w]
			if !ok {
				return 0, bad
			}
			if w == 'o' && part[:i] == "" && op == '+' {
				bits &^= 2 // the usual umask
			} else if w == 'g' && part[:i] == "" && op == '+' {
				bits &^= 2
			}
			switch op {
			case '+':
				old |= bits << shift
			case '-':
				old &^= bits << shift
			default:
				old = old&^(7<<shift) | bits<<shift
			}
		}
	}
	return old, nil
}

func realpath(e *tool.Env) error {
	o, err := e.Operands("emsqzLP1:2:", "canonicalize-existing=e canonicalize-missing=m strip=s no-symlinks=s quiet=q zero=z relative-to=1 relative-base=2")
	if err != nil {
		return err
	}
	for _, name := range o.Args {
		full := e.Abs(name)
		if !o.Has('s') {
			full = followed(e, full)
		}
		need := full
		if !o.Has('e') {
			need = path.Dir(full)
		}
		if _, err := e.World.Stat(need); err != nil && !o.Has('m') {
			if o.Has('q') {
				e.SetFailed()
			} else {
				e.Warn(name, err)
			}
			continue
		}
		if o.Has('1') {
			full = relative(e.Abs(o.Value('1')), full)
		}
		fmt.Fprintln(e.Stdout, full)
	}
	return nil
}

// followed returns a whole path with its links followed. A part that is not there stays as it is.
func followed(e *tool.Env, full string) string {
	done, rest := "/", parts(full)
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == ".." || part == "." {
			if part == ".." {
				done = path.Dir(done)
			}
			continue
		}
		next := path.Join(done, part)
		if info, err := e.World.Lstat(next); err == nil && tool.IsLink(info) && hops < 40 {
			if to, err := e.World.Readlink(next); err == nil {
				if path.IsAbs(to) {
					done = "/"
				}
				hops++
				rest = append(parts(to), rest...)
				continue
			}
		}
		done = next
	}
	return done
}

func relative(base, full string) string {
	a, b := parts(base), parts(full)
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	out := strings.Repeat("../", len(a)-n) + strings.Join(b[n:], "/")
	if out = strings.TrimSuffix(out, "/"); out == "" {
		return "."
	}
	return out
}

func parts(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

func readlink(e *tool.Env) error {
	o, err := e.Operands("femnqsvz", "canonicalize=f canonicalize-existing=e canonicalize-missing=m no-newline=n quiet=q silent=s verbose=v")
	if err != nil {
		return err
	}
	for _, name := range o.Args {
		text := e.Abs(name)
		if o.Last("fem") == 0 {
			if text, err = e.World.Readlink(name); err != nil {
				e.SetFailed() // without a word, as GNU's
				continue
			}
		} else {
			text = followed(e, text)
			need := text
			if !o.Has('e') {
				need = path.Dir(text)
			}
			if _, err := e.World.Stat(need); err != nil && !o.Has('m') {
				e.SetFailed()
				continue
			}
		}
		e.Stdout.WriteString(text)
		if !o.Has('n') {
			e.Stdout.WriteByte('\n')
		}
	}
	return nil
}

func mktemp(e *tool.Env) error {
	o, err := e.Options("duqtp:1:", "directory=d dry-run=u quiet=q tmpdir=p suffix=1")
	if err != nil {
		return err
	}
	dir, template := "", "tmp.XXXXXXXXXX"
	if len(o.Args) > 0 {
		template = o.Args[0]
	} else {
		dir = "/tmp"
	}
	if o.Has('p') {
		dir = o.Value('p')
	} else if o.Has('t') {
		dir = "/tmp"
	}
	x := strings.TrimRight(template, "X")
	suffix := o.Value('1')
	n := len(template) - len(x)
	if i := strings.LastIndex(template, "XXX"); n < 3 && i >= 0 && suffix == "" {
		suffix = template[i+3:]
		template = template[:i+3]
		x = strings.TrimRight(template, "X")
		n = len(template) - len(x)
	}
	if n < 3 {
		return tool.Errorf("too few X's in template %s", quoted(template))
	}
	if dir != "" {
		if !e.IsDir(dir) {
			if err := e.World.Mkdir(dir, true); err != nil {
				return err
			}
		}
		x = tool.Join(dir, x)
	}
	for try := 0; try < 100; try++ {
		name := x + random(n) + suffix
		if _, err := e.World.Lstat(name); err == nil {
			continue
		}
		switch {
		case o.Has('u'):
		case o.Has('d'):
			err = e.World.Mkdir(name, false)
		default:
			err = e.Replace(name, nil)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(e.Stdout, name)
		return nil
	}
	return tool.Errorf("there is no free name")
}
