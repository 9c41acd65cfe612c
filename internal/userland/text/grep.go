package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/posix"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

const grepHelp = `  -E  extended patterns  -F  the text itself  -G  basic patterns (default)  -P  Perl's patterns
  -i  ignore case        -v  lines that don't match  -w  whole words       -x  whole lines
  -c  count              -l  names only              -L  names without     -o  the matching parts only
  -n  line numbers       -b  byte offsets            -H  with names  -h  without  -Z  a NUL after names
  -q  say nothing        -s  no word of missing files    -r  folders   -a  binary files as text  -I  not binary files
  -m N  at most N lines  -A N  lines after  -B N  before  -C N  around  -z  lines end in NUL
  -e PATTERN  -f FILE    --include=GLOB  --exclude=GLOB  --exclude-dir=GLOB  --label=NAME`

type grepper struct {
	links   int // to folders on the way
	e       *tool.Env
	o       *tool.Opts
	re      *posix.Regexp
	literal []byte // if the pattern is plain text
	names   bool
	before  int
	after   int
	around  bool
	most    int
	end     byte
	any     bool
	apart   string // between groups of lines
	groups  bool   // some lines were printed, in this file or in another one
}

func grep(e *tool.Env) error {
	o, err := e.Options("EFGPivwxclLonHhbqsrRaIm:A:B:C:e:f:1:2:3:#zZTUyu4:5:6::8:9", "extended-regexp=E fixed-strings=F basic-regexp=G perl-regexp=P ignore-case=i invert-match=v word-regexp=w line-regexp=x "+
		"count=c files-with-matches=l files-without-match=L only-matching=o line-number=n with-filename=H no-filename=h byte-offset=b quiet=q silent=q no-messages=s "+
		"recursive=r dereference-recursive=R text=a max-count=m after-context=A before-context=B context=C regexp=e file=f include=1 exclude=2 exclude-dir=3 color=6 colour=6 label=4 binary-files=5 null=Z null-data=z initial-tab=T line-buffered=u group-separator=8 no-group-separator=9 no-ignore-case=U")
	if err != nil {
		return err
	}
	g := &grepper{e: e, o: o, end: '\n', apart: "--\n"}
	switch o.Last("89") {
	case '8':
		g.apart = o.Value('8') + "\n"
	case '9':
		g.apart = ""
	}
	if o.Has('z') {
		g.end = 0
	}
	if err := g.options(); err != nil {
		return err
	}
	files := o.Args
	if o.Has('r') || o.Has('R') {
		bare := len(files) == 0
		if bare {
			files = []string{"."}
		}
		g.names = !o.Has('h')
		done, err := g.walk(files, bare)
		if done || err != nil {
			return g.exit(err)
		}
		return g.exit(nil)
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	g.names = (len(files) > 1 || o.Has('H')) && !o.Has('h')
	for _, name := range files {
		done, err := g.file(name, name)
		if done || err != nil {
			return g.exit(err)
		}
	}
	return g.exit(nil)
}

func (g *grepper) exit(err error) error {
	switch {
	case err != nil:
		return err
	case g.e.Failed() && !(g.o.Has('q') && g.any):
		return nil // the failure is the exit code
	case !g.any:
		return tool.Code(1)
	}
	return &tool.Exit{Fine: true}
}

func (g *grepper) options() (err error) {
	o := g.o
	patterns := []string{}
	for _, p := range o.All('e') {
		patterns = append(patterns, strings.Split(p, "\n")...)
	}
	for _, name := range o.All('f') {
		text, err := g.e.ReadAll(name)
		if err != nil {
			return err
		}
		if len(text) > 0 {
			patterns = append(patterns, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
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
		syntax = map[rune]posix.Syntax{'E': posix.Extended, 'F': posix.Fixed, 'G': posix.Basic, 'P': posix.Perl}[k]
	}
	flags := ""
	if o.Has('i') || o.Has('y') {
		flags = "i"
	}
	if len(patterns) == 1 && flags == "" && !o.Has('w') && !o.Has('x') {
		if text, ok := posix.Literal(patterns[0], syntax); ok && text != "" {
			g.literal = []byte(text)
		}
	}
	if g.re, err = posix.Any(patterns, syntax, flags, o.Has('x')); err != nil {
		return err
	}
	g.re.Spend = g.e.Bounded()
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
	g.around = g.before > 0 || g.after > 0
	g.most, err = g.e.Int(o, 'm', -1)
	return err
}

func fits(globs []string, name string) bool {
	for _, glob := range globs {
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
	}
	return false
}

// walk searches the files below the named folders.
func (g *grepper) walk(roots []string, bare bool) (done bool, err error) {
	for _, root := range roots {
		err = g.e.Walk(root, func(name string, info fs.FileInfo, err error) error {
			switch {
			case err != nil:
				g.missing(name, err)
				return nil
			case info.IsDir():
				if name != root && fits(g.o.All('3'), info.Name()) {
					return fs.SkipDir
				}
				return nil
			case name != root && !g.o.Has('R') && tool.IsLink(info):
				return nil
			case tool.IsLink(info) && g.e.IsDir(name):
				if g.links == 4 { // most likely a link to a folder above
					g.e.Warn(name, errors.New("warning: recursive directory loop"))
					return nil
				}
				g.links++
				done, err = g.walk([]string{name + "/"}, bare)
				g.links--
				if err == nil && done {
					return errEnough
				}
				return err
			case name != root && (fits(g.o.All('2'), info.Name()) || g.o.Has('1') && !fits(g.o.All('1'), info.Name())):
				return nil
			}
			shown := name
			if bare {
				shown = strings.TrimPrefix(name, "./")
			}
			done, err = g.file(name, shown)
			if err == nil && done {
				return errEnough
			}
			return err
		})
		if errors.Is(err, errEnough) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

func (g *grepper) missing(name string, err error) {
	if g.o.Has('s') {
		g.e.SetFailed()
	} else {
		g.e.Warn(name, err)
	}
}

// find returns the first match at or after from, which has groups too if the pattern is no plain text.
func (g *grepper) find(line []byte, from int) []int {
	if g.literal != nil {
		if i := bytes.Index(line[from:], g.literal); i >= 0 {
			return []int{from + i, from + i + len(g.literal)}
		}
		return nil
	}
	for at := from; at <= len(line); {
		m := g.re.Find(line, at)
		if m == nil || !g.o.Has('w') || (m[0] == 0 || !wordByte(line[m[0]-1])) && (m[1] == len(line) || !wordByte(line[m[1]])) && m[1] > m[0] {
			return m
		}
		at = m[0] + 1
	}
	return nil
}

func (g *grepper) match(line []byte) bool {
	if g.literal != nil || g.o.Has('w') {
		return g.find(line, 0) != nil
	}
	return g.re.Match(line)
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// file searches one file. done is true if no other file needs to be searched.
func (g *grepper) file(name, shown string) (done bool, err error) {
	r, err := g.e.Open(name)
	if err != nil {
		g.missing(name, err)
		return false, nil
	}
	defer r.Close()
	if name == "-" {
		if shown = "(standard input)"; g.o.Has('4') {
			shown = g.o.Value('4')
		}
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
	if n > 0 {
		g.any = true
	}
	after := "\n"
	if g.o.Has('Z') {
		after = "\x00"
	}
	switch {
	case g.o.Has('q'):
		return n > 0, nil
	case g.o.Has('l') && n > 0, g.o.Has('L') && n == 0:
		out.WriteString(shown + after)
	case g.o.Has('l') || g.o.Has('L'):
	case g.o.Has('c'):
		if g.names {
			out.WriteString(shown + map[bool]string{true: "\x00", false: ":"}[g.o.Has('Z')])
		}
		fmt.Fprintln(out, n)
	}
	return false, nil
}

type held struct {
	text []byte
	off  int
}

func (g *grepper) search(name string, r io.Reader) (n int, err error) {
	o, out := g.o, g.e.Stdout
	quiet := o.Has('q') || o.Has('l') || o.Has('L') || o.Has('c')
	number, offset, trailing, printed := 0, 0, 0, 0
	var before []held
	binary := false
	prefix := func(sep byte, num, off int) {
		if g.names {
			out.WriteString(name)
			if o.Has('Z') {
				sep = 0
			}
			out.WriteByte(sep)
		}
		if o.Has('n') {
			fmt.Fprintf(out, "%d%c", num, sep)
		}
		if o.Has('b') {
			fmt.Fprintf(out, "%d%c", off, sep)
		}
		if o.Has('T') && (g.names || o.Has('n') || o.Has('b')) {
			out.WriteByte('\t')
		}
	}
	put := func(sep byte, num, off int, text []byte) error {
		if g.around && g.groups && (printed == 0 || num > printed+1) {
			out.WriteString(g.apart)
		}
		printed, g.groups = num, true
		if o.Has('o') && sep != ':' {
			return nil
		}
		prefix(sep, num, off)
		out.Write(text)
		return out.WriteByte(g.end)
	}
	if g.most == 0 {
		return 0, nil
	}
	if g.blocks() {
		if n, number, offset, r, err = g.inBlocks(r, quiet, put); err != nil || r == nil {
			return n, err
		}
	}
	err = g.e.Lines(r, g.end, func(line []byte) error {
		number++
		start := offset
		offset += len(line)
		text := bytes.TrimSuffix(line, []byte{g.end})
		if !binary && !o.Has('a') && g.end == '\n' {
			binary = bytes.IndexByte(text, 0) >= 0
		}
		if binary && (o.Has('I') || o.Value('5') == "without-match") {
			return errEnough
		}
		full := n == g.most // only lines after the last match are left to print
		if full || g.match(text) == o.Has('v') {
			if !quiet && trailing > 0 {
				trailing--
				return put('-', number, start, text)
			}
			if full {
				return errEnough
			}
			if !quiet && g.before > 0 {
				if len(before) == g.before {
					before = before[1:]
				}
				before = append(before, held{bytes.Clone(text), start})
			}
			return nil
		}
		n++
		if o.Has('q') || o.Has('l') || o.Has('L') {
			return errEnough
		}
		if !quiet {
			if binary {
				out.Flush()
				fmt.Fprintf(g.e.Stderr, "grep: %s: binary file matches\n", name)
				return errEnough
			}
			for i, h := range before {
				if err := put('-', number-len(before)+i, h.off, h.text); err != nil {
					return err
				}
			}
			before = before[:0]
			switch {
			case o.Has('o') && o.Has('v'):
			case o.Has('o'):
				g.parts(text, func(from, to int) {
					if g.around && g.groups && (printed == 0 || number > printed+1) {
						out.WriteString(g.apart)
					}
					printed, g.groups = number, true
					prefix(':', number, start+from)
					out.Write(text[from:to])
					out.WriteByte(g.end)
				})
			default:
				if err := put(':', number, start, text); err != nil {
					return err
				}
			}
			trailing = g.after
		}
		if n == g.most && (quiet || trailing == 0) {
			return errEnough
		}
		return nil
	})
	return n, err
}

// blocks reports whether the lines can be searched many at once: nothing about a line matters but whether it has a match.
func (g *grepper) blocks() bool {
	o := g.o
	return !o.Has('v') && !o.Has('o') && !o.Has('w') && !g.around && g.end == '\n' && g.most != 0
}

// inBlocks searches blocks of whole lines. At a block that has to be searched line by line, it returns a reader of it and the rest. Otherwise
// the reader is nil. n, number and offset are the matches, lines and bytes so far.
func (g *grepper) inBlocks(r io.Reader, quiet bool, put func(sep byte, num, off int, text []byte) error) (n, number, offset int, rest io.Reader, err error) {
	o := g.o
	buf := make([]byte, 0, 64<<10)
	for {
		k, rerr := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+k]
		if rerr != nil && rerr != io.EOF && rerr != io.ErrUnexpectedEOF {
			return n, number, offset, nil, rerr
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		if rerr != nil {
			end = len(buf)
		}
		block := buf[:end]
		if end == 0 && len(buf) > 0 || !o.Has('a') && bytes.IndexByte(block, 0) >= 0 {
			return n, number, offset, io.MultiReader(bytes.NewReader(bytes.Clone(buf)), r), nil
		}
		g.e.World.Spend(len(block) + 64)
		for at := 0; at < len(block); {
			from, to, ok := g.line(block[at:])
			if !ok {
				return n, number, offset + at, io.MultiReader(bytes.NewReader(bytes.Clone(buf[at:])), r), nil
			}
			upto := block[at:]
			if from >= 0 {
				upto = upto[:from]
			}
			if o.Has('n') { // nothing else needs it
				number += bytes.Count(upto, []byte{'\n'})
			}
			if from < 0 {
				break
			}
			number++
			n++
			if o.Has('q') || o.Has('l') || o.Has('L') {
				return n, number, offset, nil, nil
			}
			if !quiet {
				if err := put(':', number, offset+at+from, block[at+from:at+to]); err != nil {
					return n, number, offset, nil, err
				}
			}
			if n == g.most {
				return n, number, offset, nil, nil
			}
			at += to + 1
		}
		offset += end
		buf = append(buf[:0], buf[end:]...)
		if rerr != nil {
			return n, number, offset, nil, nil
		}
	}
}

// line returns the first line of a block that has a match, or -1. ok is false if the pattern needs one line at a time.
func (g *grepper) line(block []byte) (from, to int, ok bool) {
	if g.literal == nil {
		return g.re.Line(block)
	}
	i := bytes.Index(block, g.literal)
	if i < 0 {
		return -1, -1, true
	}
	from = bytes.LastIndexByte(block[:i], '\n') + 1
	if end := bytes.IndexByte(block[i:], '\n'); end >= 0 {
		return from, i + end, true
	}
	return from, len(block), true
}

// parts calls do for each match of a line that is not empty.
func (g *grepper) parts(text []byte, do func(from, to int)) {
	if g.literal == nil && !g.o.Has('w') {
		for _, m := range g.re.FindAll(text, -1) {
			if m[1] > m[0] {
				do(m[0], m[1])
			}
		}
		return
	}
	for at := 0; at <= len(text); {
		m := g.find(text, at)
		if m == nil {
			return
		}
		if m[1] > m[0] {
			do(m[0], m[1])
		}
		at = max(m[1], m[0]+1)
	}
}
