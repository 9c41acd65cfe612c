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
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
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
	// MaxLine is the most bytes that the expression is run over at a stretch: a longer
	// line is searched in pieces. 0 is 1 MiB, which is the most. Between stretches the
	// search gives way to the page and heeds its context.
	MaxLine int
}

const (
	grepBatch = 64      // files read at once
	grepBytes = 8 << 20 // and bytes of them; a larger file is read line by line
	maxLine   = 1 << 20 // a longer line is searched in pieces
	maxText   = 4 << 10
)

// Grep searches all files below root for a regular expression (RE2), line by
// line, in the order of [Walk]. A file that cannot be read is yielded as an
// error with its path, and the search goes on.
func Grep(ctx context.Context, fsys FS, root string, re *regexp.Regexp, o GrepOptions) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		f := folderOf(ctx, fsys)
		ctx = keeping(ctx, f.c)
		s := &search{ctx: ctx, f: f, re: re, o: o, yield: yield, whole: wholeFile(re), piece: maxLine, rested: time.Now()}
		if o.MaxLine > 0 {
			s.piece = min(o.MaxLine, maxLine)
		}
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
	o      GrepOptions
	yield  func(Match, error) bool
	found  int
	piece  int       // bytes at a stretch
	since  int       // bytes searched since the last look at the clock
	rested time.Time // when the page last had its turn
}

// maxStretch is how long a search keeps a page's only thread.
const maxStretch = 50 * time.Millisecond

// rest is called after n bytes were searched: it ends a search whose context is done,
// and lets a page that has waited for long have its turn.
func (s *search) rest(n int) error {
	if s.since += n; s.since < 64<<10 && s.since < s.piece {
		return nil
	}
	s.since = 0
	if runtime.GOOS == "js" && time.Since(s.rested) > maxStretch {
		time.Sleep(time.Millisecond)
		s.rested = time.Now()
	}
	if err := s.ctx.Err(); err != nil {
		s.yield(Match{}, err)
		return errStop
	}
	return nil
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
	if s.whole != nil && (s.o.MaxLine == 0 || len(data) <= s.piece) && !s.whole.Match(data) {
		return s.rest(len(data))
	}
	n := 0
	for line := 1; len(data) > 0; line++ {
		text, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		for first := true; first || len(text) > 0; first = false {
			piece := text[:min(len(text), s.piece)]
			text = text[len(piece):]
			more, err := s.line(name, line, piece, &n)
			if err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// line tests one line; more is false when this file has had its share.
func (s *search) line(name string, line int, text []byte, n *int) (more bool, err error) {
	text = bytes.TrimSuffix(text, []byte("\r"))
	at := s.re.FindIndex(text)
	if err := s.rest(len(text) + 1); err != nil {
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
