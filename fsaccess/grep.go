package fsaccess

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// Match is one line that a search has found.
type Match struct {
	Path   string
	Line   int    // number of the line, from 1
	Column int    // first byte of the match in the line, from 1
	Text   string // the line without its end, at most 4 KiB around the match
}

// GrepOptions limits a search. The zero value searches all text files.
type GrepOptions struct {
	WalkOptions
	// Max is the maximum number of matches. 0 means no limit.
	Max int
	// MaxPerFile is the maximum number of matches in one file. 0 means no limit.
	MaxPerFile int
	// Binary searches files with NUL bytes too.
	Binary bool
	// MaxLine is the number of bytes of a line that are searched together. A longer line is
	// searched in pieces, and a match across the border of two pieces is not found. The
	// default and the maximum is 1 MiB.
	MaxLine int
}

const (
	grepBatch = 64             // files read at once
	grepBytes = core.ManyBytes // bytes of these files; a larger file is read line by line
	maxLine   = 1 << 20        // a longer line is searched in pieces
	maxText   = 4 << 10
	grepSteps = 16 << 10 // steps of an expression without a pause
	grepLook  = 64 << 10 // bytes in which the literal prefix is searched without a pause
)

// Grep returns the lines of all files below root that match a regular expression (RE2), in
// the order of [Walk]. It returns the first match of each line. If root is a file, only
// that file is searched. If a file cannot be read, an error with its path is yielded, and
// the search continues. Grep lets the page run at least every 10 ms, also within a line,
// and ends with ctx.
func Grep(ctx context.Context, fsys FS, root string, re *regexp.Regexp, o GrepOptions) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		f := folderOf(ctx, fsys)
		ctx = core.Keeping(ctx, f.c)
		s := newSearch(ctx, f, re, o, yield)
		var batch []Entry
		var size int64
		flush := func() bool {
			ok := s.batch(ctx, batch)
			batch, size = batch[:0], 0
			return ok
		}
		if fi, err := f.Stat(root); err == nil && !fi.IsDir() {
			s.batch(ctx, []Entry{Entry(core.EntryOf(root, fi))})
			return
		}
		for e, err := range Walk(ctx, f, root, o.WalkOptions) {
			if err != nil {
				if !flush() || !yield(Match{Path: e.Path}, err) {
					return
				}
				continue
			}
			if e.Dir || e.Link || e.Size == 0 {
				continue
			}
			if len(batch) > 0 && (len(batch) >= grepBatch || size+e.Size > grepBytes) && !flush() {
				return
			}
			batch, size = append(batch, e), size+e.Size
		}
		flush()
	}
}

// wholeFile returns an expression for a first look at many lines at once, which excludes
// most files quickly. It returns nil if that look could miss a line.
func wholeFile(re *regexp.Regexp) *regexp.Regexp {
	s := re.String()
	for _, p := range []string{`\A`, `\z`, "(?", "$"} { // "$" matches before a carriage return too
		if strings.Contains(s, p) {
			return nil
		}
	}
	m, err := regexp.Compile("(?m:" + s + ")")
	if err != nil {
		return nil
	}
	return m
}

type search struct {
	ctx    context.Context
	f      *Folder
	re     *regexp.Regexp
	whole  *regexp.Regexp
	prefix []byte // literal prefix of each match
	exact  bool   // the expression is this prefix and nothing else
	steps  int    // instructions of the expression, for each character
	o      GrepOptions
	yield  func(Match, error) bool
	found  int
	piece  int // bytes of a line that are searched together
	budget jsx.Budget

	uncut bool // search a line without a pause; for the test of an uninterrupted search
}

func newSearch(ctx context.Context, f *Folder, re *regexp.Regexp, o GrepOptions, yield func(Match, error) bool) *search {
	s := &search{ctx: ctx, f: f, re: re, o: o, yield: yield, whole: wholeFile(re), piece: maxLine, steps: stepsOf(re)}
	if o.MaxLine > 0 {
		s.piece = min(o.MaxLine, maxLine)
	}
	prefix, _ := re.LiteralPrefix() // complete for ^x$ too
	s.prefix, s.exact = []byte(prefix), prefix != "" && re.String() == regexp.QuoteMeta(prefix)
	return s
}

// stepsOf returns the number of instructions of an expression. RE2 needs at most that many
// steps for each character.
func stepsOf(re *regexp.Regexp) int {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err == nil {
		if prog, err := syntax.Compile(parsed.Simplify()); err == nil {
			return len(prog.Inst)
		}
	}
	return 1000 // an expression with another syntax
}

// spend counts n steps. It returns an error if the context is done, and lets a page that
// has waited long enough run.
func (s *search) spend(n int) error {
	if s.budget.Steps(s.ctx, n) == nil {
		return nil
	}
	s.yield(Match{}, s.ctx.Err())
	return core.ErrStop
}

// has reports whether text contains the literal prefix of a match.
func (s *search) has(text []byte) (bool, error) {
	return bytes.Contains(text, s.prefix), s.spend(len(text)/16 + 1)
}

// find runs the expression over a piece of a line. If the piece is too long for one run
// without a pause, it is read character by character, so that the search can pause and end
// inside it.
func (s *search) find(text []byte) ([]int, error) {
	if len(text)*s.steps <= grepSteps || s.uncut {
		return s.re.FindIndex(text), s.spend(len(text)*s.steps + 16)
	}
	if len(s.prefix) > 0 {
		if ok, err := s.has(text); !ok || err != nil {
			return nil, err
		}
	}
	if s.exact {
		at := bytes.Index(text, s.prefix)
		return []int{at, at + len(s.prefix)}, nil
	}
	r := &slowReader{s: s, text: text}
	at := s.re.FindReaderIndex(r)
	return at, r.err
}

// slowReader reads a piece of a line and counts its steps. It ends when the search ends.
type slowReader struct {
	s    *search
	text []byte
	err  error
}

func (r *slowReader) ReadRune() (rune, int, error) {
	if len(r.text) == 0 || r.err != nil {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRune(r.text)
	r.text = r.text[n:]
	if r.err = r.s.spend(r.s.steps); r.err != nil {
		return 0, 0, io.EOF
	}
	return c, n, nil
}

func (s *search) batch(ctx context.Context, files []Entry) bool {
	var contents [][]byte
	if len(files) > 1 {
		full := make([]core.Entry, len(files))
		for i, e := range files {
			e.Path = core.Join(s.f.dir, e.Path)
			full[i] = core.Entry(e)
		}
		contents, _ = core.ReadMany(ctx, s.f.c, full) // missing contents are read below
	}
	for i, e := range files {
		if err := context.Cause(ctx); err != nil {
			s.yield(Match{Path: e.Path}, err)
			return false
		}
		var err error
		if i < len(contents) && contents[i] != nil {
			err = s.content(e.Path, contents[i])
		} else if e.Size > grepBytes {
			err = s.stream(e.Path)
		} else {
			var data []byte
			if data, err = s.f.ReadFile(e.Path); err == nil {
				err = s.content(e.Path, data)
			}
		}
		if err == core.ErrStop {
			return false
		}
		if err != nil && !s.yield(Match{Path: e.Path}, err) {
			return false
		}
	}
	return true
}

func isBinary(head []byte) bool { return bytes.IndexByte(head[:min(len(head), 8000)], 0) >= 0 }

func (s *search) content(name string, data []byte) error {
	if !s.o.Binary && isBinary(data) {
		return nil
	}
	n, seen := 0, 0 // matches; bytes that were examined together and may contain some
	for line, begins := 1, true; len(data) > 0; {
		if begins && seen <= 0 {
			chunk, ok, err := s.look(data)
			if err != nil {
				return err
			}
			if !ok {
				if data = data[len(chunk):]; len(data) > 0 {
					line += bytes.Count(chunk, []byte{'\n'})
				}
				continue
			}
			seen = len(chunk)
		}
		text := data[:min(len(data), s.piece)]
		i := bytes.IndexByte(data[:min(len(data), s.piece+1)], '\n')
		size := len(text)
		if i >= 0 {
			text, size = data[:i], i+1
		}
		data = data[size:]
		seen -= size
		begins = i >= 0
		more, err := s.line(name, line, text, &n)
		if err != nil || !more {
			return err
		}
		if begins {
			line++
		}
	}
	return nil
}

// look examines many lines at once. It returns whole lines of data and reports whether they
// may contain a match. If it cannot examine them, it returns no lines and true.
func (s *search) look(data []byte) (chunk []byte, ok bool, err error) {
	if s.o.MaxLine != 0 && len(data) > s.piece { // the expression sees only pieces
		return nil, true, nil
	}
	most := grepLook
	if len(s.prefix) == 0 {
		if most = grepSteps / s.steps; s.whole == nil {
			return nil, true, nil
		}
	}
	if chunk = data; len(data) > most {
		chunk = data[:bytes.LastIndexByte(data[:most], '\n')+1]
	}
	if len(chunk) == 0 {
		return nil, true, nil
	}
	if len(s.prefix) > 0 {
		ok, err = s.has(chunk)
		return chunk, ok, err
	}
	return chunk, s.whole.Match(chunk), s.spend(len(chunk)*s.steps + 16)
}

// line searches one line. more is false if this file has reached its limit of matches.
func (s *search) line(name string, line int, text []byte, n *int) (more bool, err error) {
	text = bytes.TrimSuffix(text, []byte("\r"))
	at, err := s.find(text)
	if err != nil {
		return false, err
	}
	if at == nil {
		return true, nil
	}
	if !s.yield(Match{name, line, at[0] + 1, clip(text, at[0])}, nil) {
		return false, core.ErrStop
	}
	*n++
	if s.found++; s.o.Max > 0 && s.found >= s.o.Max {
		return false, core.ErrStop
	}
	return s.o.MaxPerFile == 0 || *n < s.o.MaxPerFile, nil
}

// clip returns the part of a long line around the match, as valid UTF-8.
func clip(text []byte, at int) string {
	if len(text) > maxText {
		start := max(0, at-maxText/4)
		text = text[start:min(len(text), start+maxText)]
	}
	if utf8.Valid(text) {
		return string(text)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// stream searches a large file without holding it in memory.
func (s *search) stream(name string) error {
	file, err := s.f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, s.piece)
	if head, _ := r.Peek(8000); !s.o.Binary && isBinary(head) {
		return nil
	}
	n := 0
	for line := 1; ; {
		text, err := r.ReadSlice('\n')
		if len(text) > 0 {
			more, err := s.line(name, line, bytes.TrimSuffix(text, []byte("\n")), &n)
			if err != nil || !more {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return err
		default:
			line++
		}
	}
}
