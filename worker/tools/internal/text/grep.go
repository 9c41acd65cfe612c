package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bailey-go/bailey/worker/tools/internal/posix"
	"github.com/bailey-go/bailey/worker/tools/internal/tool"
)

const grepHelp = `  -E  extended patterns  -F  the text itself  -G  basic patterns (default)  -P  Go's syntax, much of Perl's
  -i  ignore case        -v  lines that don't match  -w  whole words       -x  whole lines
  -c  count              -l  names only              -L  names without     -o  the matching parts only
  -n  line numbers       -b  byte offsets            -H  with names  -h  without
  -q  say nothing        -s  no word of missing files    -r  folders   -a  binary files as text
  -m N  at most N lines  -A N  lines after  -B N  before  -C N  around
  -e PATTERN  -f FILE    --include=GLOB  --exclude=GLOB  --exclude-dir=GLOB`

type grepper struct {
	e       *tool.Env
	o       *tool.Opts
	re      *regexp.Regexp
	literal []byte // if the pattern is plain text
	names   bool
	before  int
	after   int
	most    int
	any     bool
}

func grep(e *tool.Env) error {
	o, err := e.Options("EFGPivwxclLonHhbqsrRaIm:A:B:C:e:f:1:2:3:#z::", "extended-regexp=E fixed-strings=F basic-regexp=G perl-regexp=P ignore-case=i invert-match=v word-regexp=w line-regexp=x "+
		"count=c files-with-matches=l files-without-match=L only-matching=o line-number=n with-filename=H no-filename=h byte-offset=b quiet=q silent=q no-messages=s "+
		"recursive=r text=a max-count=m after-context=A before-context=B context=C regexp=e file=f include=1 exclude=2 exclude-dir=3 color=z colour=z")
	if err != nil {
		return err
	}
	g := &grepper{e: e, o: o}
	if err := g.options(); err != nil {
		return err
	}
	files := o.Args
	if o.Has('r') || o.Has('R') {
		if len(files) == 0 {
			files = []string{"."}
		}
		files = g.walk(files)
		g.names = !o.Has('h')
	} else {
		if len(files) == 0 {
			files = []string{"-"}
		}
		g.names = (len(files) > 1 || o.Has('H')) && !o.Has('h')
	}
	for _, name := range files {
		done, err := g.file(name)
		if err != nil {
			return err
		}
		if done {
			break
		}
	}
	switch {
	case e.Failed() && !(o.Has('q') && g.any):
		return nil // the failure is the exit code
	case !g.any:
		return tool.Code(1)
	}
	return tool.Code(0)
}

func (g *grepper) options() (err error) {
	o := g.o
	patterns := o.All('e')
	for _, name := range o.All('f') {
		text, err := g.e.ReadAll(name)
		if err != nil {
			return err
		}
		if text := strings.TrimSuffix(string(text), "\n"); text != "" || len(text) > 0 {
			patterns = append(patterns, strings.Split(text, "\n")...)
		}
	}
	if len(o.All('e'))+len(o.All('f')) == 0 {
		if len(o.Args) == 0 {
			return g.e.Usagef("there is no pattern")
		}
		patterns, o.Args = strings.Split(o.Args[0], "\n"), o.Args[1:]
	}
	syntax := posix.Basic
	switch g.e.Name {
	case "egrep":
		syntax = posix.Extended
	case "fgrep":
		syntax = posix.Fixed
	}
	if k := o.Last("EFGP"); k != 0 {
		syntax = map[rune]posix.Syntax{'E': posix.Extended, 'F': posix.Fixed, 'G': posix.Basic, 'P': posix.Go}[k]
	}
	flags := ""
	if o.Has('i') {
		flags = "i"
	}
	if text, ok := "", false; len(patterns) == 1 && flags == "" && !o.Has('w') && !o.Has('x') {
		if text, ok = posix.Literal(patterns[0], syntax); ok && text != "" {
			g.literal = []byte(text)
		}
	}
	var parts []string
	for _, p := range patterns {
		re, err := posix.Compile(p, syntax, "")
		if err != nil {
			return err
		}
		parts = append(parts, "(?:"+re.String()+")")
	}
	all := "(?:" + strings.Join(parts, "|") + ")"
	if len(parts) == 0 {
		all = `[^\x00-\x{10FFFF}]` // no pattern matches nothing
	}
	if o.Has('x') {
		all = "^" + all + "$"
	}
	if g.re, err = posix.Compile(all, posix.Go, flags); err != nil {
		return err
	}
	g.re.Longest()
	around := 0
	if around, err = g.e.Int(o, 'C', 0); err == nil && o.Has('#') {
		around, err = g.e.Int(o, '#', 0)
	}
	if err != nil {
		return err
	}
	if g.before, err = g.e.Int(o, 'B', around); err != nil {
		return err
	}
	if g.after, err = g.e.Int(o, 'A', around); err != nil {
		return err
	}
	g.most, err = g.e.Int(o, 'm', -1)
	return err
}

// walk returns the files below the named folders.
func (g *grepper) walk(roots []string) (files []string) {
	fits := func(globs []string, name string) bool {
		for _, glob := range globs {
			if ok, _ := path.Match(glob, name); ok {
				return true
			}
		}
		return false
	}
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				if !g.o.Has('s') {
					g.e.Warn(name, err)
				}
			case d.IsDir():
				if name != root && fits(g.o.All('3'), d.Name()) {
					return fs.SkipDir
				}
			case fits(g.o.All('2'), d.Name()) || g.o.Has('1') && !fits(g.o.All('1'), d.Name()):
			default:
				if root == "." && len(g.o.Args) > 0 {
					name = "./" + name
				}
				files = append(files, name)
			}
			return nil
		})
	}
	return files
}

func (g *grepper) find(line []byte) []int {
	if g.literal != nil {
		if i := bytes.Index(line, g.literal); i >= 0 {
			return []int{i, i + len(g.literal)}
		}
		return nil
	}
	if !g.o.Has('w') {
		return g.re.FindIndex(line)
	}
	for at := 0; at <= len(line); {
		m := g.re.FindIndex(line[at:])
		if m == nil {
			return nil
		}
		from, to := at+m[0], at+m[1]
		if (from == 0 || !wordByte(line[from-1])) && (to == len(line) || !wordByte(line[to])) {
			return []int{from, to}
		}
		at = from + 1
	}
	return nil
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// file searches one file. done is true if no other file needs to be searched.
func (g *grepper) file(name string) (done bool, err error) {
	r, err := g.e.Open(name)
	if err != nil {
		if !g.o.Has('s') {
			g.e.Warn(name, err)
		} else {
			g.e.SetFailed()
		}
		return false, nil
	}
	defer r.Close()
	shown := name
	if name == "-" {
		shown = "(standard input)"
	}
	n, err := g.search(shown, r)
	if err != nil && !errors.Is(err, errEnough) {
		var p *fs.PathError
		if errors.As(err, &p) {
			g.e.Warn(name, err)
			return false, nil
		}
		return false, err
	}
	out := g.e.Stdout
	if n > 0 != g.o.Has('L') {
		g.any = true
	}
	switch {
	case g.o.Has('q'):
		return n > 0, nil
	case g.o.Has('l') && n > 0, g.o.Has('L') && n == 0:
		fmt.Fprintln(out, shown)
	case g.o.Has('l') || g.o.Has('L'):
	case g.o.Has('c'):
		if g.names {
			fmt.Fprintf(out, "%s:", shown)
		}
		fmt.Fprintln(out, n)
	}
	return false, nil
}

func (g *grepper) search(name string, r io.Reader) (n int, err error) {
	o, out := g.o, g.e.Stdout
	quiet := o.Has('q') || o.Has('l') || o.Has('L') || o.Has('c')
	number, offset, trailing, printed := 0, 0, 0, 0
	var held [][]byte
	var binary, sniffed bool
	prefix := func(sep byte, num, off int) {
		if g.names {
			out.WriteString(name)
			out.WriteByte(sep)
		}
		if o.Has('n') {
			fmt.Fprintf(out, "%d%c", num, sep)
		}
		if o.Has('b') {
			fmt.Fprintf(out, "%d%c", off, sep)
		}
	}
	put := func(sep byte, num, off int, text []byte) error {
		if (g.before > 0 || g.after > 0) && printed > 0 && num > printed+1 {
			out.WriteString("--\n")
		}
		printed = num
		prefix(sep, num, off)
		out.Write(text)
		return out.WriteByte('\n')
	}
	if g.most == 0 {
		return 0, nil
	}
	err = lines(r, func(line []byte) error {
		number++
		start := offset
		offset += len(line)
		text := bare(line)
		if !sniffed || !binary {
			sniffed = true
			binary = binary || !o.Has('a') && bytes.IndexByte(text, 0) >= 0
		}
		m := g.find(text)
		if (m != nil) == o.Has('v') {
			if !quiet && trailing > 0 {
				trailing--
				return put('-', number, start, text)
			}
			if !quiet && g.before > 0 {
				if len(held) == g.before {
					held = held[1:]
				}
				held = append(held, append([]byte(nil), text...))
			}
			return nil
		}
		n++
		if o.Has('q') || o.Has('l') || o.Has('L') {
			return errEnough
		}
		if !quiet {
			if binary {
				fmt.Fprintf(out, "Binary file %s matches\n", name)
				return errEnough
			}
			for i, h := range held {
				if err := put('-', number-len(held)+i, start, h); err != nil {
					return err
				}
			}
			held = held[:0]
			if !o.Has('o') {
				if err := put(':', number, start, text); err != nil {
					return err
				}
			}
			for at := 0; o.Has('o') && m != nil && !o.Has('v'); {
				if m[1] > m[0] {
					prefix(':', number, start+at+m[0])
					out.Write(text[at+m[0] : at+m[1]])
					out.WriteByte('\n')
				}
				if at += max(m[1], m[0]+1); at > len(text) {
					break
				}
				m = g.find(text[at:])
			}
			trailing = g.after
		}
		if n == g.most {
			g.most = n
			return errEnough
		}
		return nil
	})
	return n, err
}
