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

	"github.com/bailey-go/bailey/internal/jsx"
)

// Match is one line that a search found.
type Match struct {
	Path   string
	Line   int    // from 1
	Column int    // byte in the line where the match begins, from 1
	Text   string // the line without its end, at most 4 KiB of it
}

// GrepOptions bounds a search.
type GrepOptions struct {
	WalkOptions
	// Max ends the search after so many matches; 0 means no limit.
	Max int
	// MaxPerFile goes on to the next file after so many; 0 means no limit.
	MaxPerFile int
	// Binary searches files with NUL bytes too.
	Binary bool
	// MaxLine is the most bytes of a line that are searched together: a match over the
	// border of two pieces is not found. 0 is 1 MiB, which is the most.
	MaxLine int
}

const (
	grepBatch = 64      // files read at once
	grepBytes = 8 << 20 // and bytes of them; a larger file is read line by line
	maxLine   = 1 << 20 // a longer line is searched in pieces
	maxText   = 4 << 10
	grepSteps = 16 << 10 // of an expression, at a stretch that can't be interrupted
	grepLook  = 64 << 10 // bytes in which its beginning is looked for at once
)

// Grep searches all files below root for a regular expression (RE2), line by
// line, in the order of [Walk]. A file that cannot be read is yielded as an
// error with its path, and the search goes on. The search lets the page have its turn
// at least every 10 ms, also within a line, and ends with its context.
func Grep(ctx context.Context, fsys FS, root string, re *regexp.Regexp, o GrepOptions) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		f := folderOf(ctx, fsys)
		ctx = keeping(ctx, f.c)
		s := newSearch(ctx, f, re, o, yield)
		var batch []Entry
		var size int64
		flush := func() bool {
			ok := s.batch(ctx, batch)
			batch, size = batch[:0], 0
			return ok
		}
		if fi, err := f.Stat(root); err == nil && !fi.IsDir() {
			s.batch(ctx, []Entry{entryOf(root, fi)})
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

// wholeFile is the expression for a first look at a whole file, which sorts out
// most files at once; nil if it could miss a line.
func wholeFile(re *regexp.Regexp) *regexp.Regexp {
	s := re.String()
	for _, p := range []string{`\A`, `\z`, "(?", "$"} { // "$" is also before a carriage return
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
	prefix []byte // each match begins with it
	exact  bool   // and the expression is nothing else
	steps  int    // of the expression, for a character
	o      GrepOptions
	yield  func(Match, error) bool
	found  int
	piece  int // bytes of a line searched together
	budget jsx.Budget

	uncut bool // a line is searched at a stretch; for the test of a search that is not cut
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

// stepsOf is how many instructions an expression has: RE2 takes at most so many steps for a character.
func stepsOf(re *regexp.Regexp) int {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err == nil {
		if prog, err := syntax.Compile(parsed.Simplify()); err == nil {
			return len(prog.Inst)
		}
	}
	return 1000 // an expression of another syntax
}

// spend counts n steps. It ends a search whose context is done, and lets a page that
// has waited for long have its turn.
func (s *search) spend(n int) error {
	if s.budget.Steps(s.ctx, n) == nil {
		return nil
	}
	s.yield(Match{}, s.ctx.Err())
	return errStop
}

// has reports whether the text has the beginning of a match.
func (s *search) has(text []byte) (bool, error) {
	return bytes.Contains(text, s.prefix), s.spend(len(text)/16 + 1)
}

// find runs the expression over a piece of a line. Where that is too long for a stretch,
// the piece is read a character at a time, so that the search can rest and end in it.
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

// slowReader is a piece of a line that counts its steps; it ends with the search.
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
		full := make([]Entry, len(files))
		for i, e := range files {
			e.Path = join(s.f.dir, e.Path)
			full[i] = e
		}
		contents, _ = readMany(ctx, s.f.c, full) // what is missing is read below
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
		if err == errStop {
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
	n, seen := 0, 0 // matches; bytes that were looked at together and may have some
	for line, begins := 1, true; len(data) > 0; {
		if begins && seen <= 0 {
			chunk, ok, err := s.look(data)
			if err != nil {
				return err
			}
			if !ok {
				if data = data[len(chunk):]; len(data) > 0 {
					line += bytes.Count(chunk, newline)
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

// look is a first look at many lines at once. It returns whole lines of data, and reports
// whether they may have a match; where it can't tell, there are none of them and they may.
func (s *search) look(data []byte) (chunk []byte, ok bool, err error) {
	if s.o.MaxLine != 0 && len(data) > s.piece { // the expression sees pieces
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

// line tests one line; more is false when this file has had its share.
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
		return false, errStop
	}
	*n++
	if s.found++; s.o.Max > 0 && s.found >= s.o.Max {
		return false, errStop
	}
	return s.o.MaxPerFile == 0 || *n < s.o.MaxPerFile, nil
}

// clip gives the part of a long line in which the match is.
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

// stream searches a large file without holding it.
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
