// Package text holds the commands that read and write lines.
package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/worker/tools/internal/tool"
)

// Commands returns the commands of this package.
func Commands() tool.Set {
	const c = "text"
	return tool.Set{
		{Name: "cat", Usage: "[-nbsET] [FILE]...", Summary: "print files, one after the other", Category: c, Files: "read", Run: cat,
			Help: "  -n  number all lines    -b  number those that are not empty\n  -s  squeeze empty lines -E  show ends as $    -T  show tabs as ^I"},
		{Name: "head", Usage: "[-n N] [-c N] [FILE]...", Summary: "print the beginning of files", Category: c, Files: "read", Run: head,
			Help: "  -n N  the first N lines (default 10); -N all but the last N\n  -c N  the first N bytes    -q  no names    -v  always names"},
		{Name: "tail", Usage: "[-n [+]N] [-c [+]N] [FILE]...", Summary: "print the end of files", Category: c, Files: "read", Run: tail,
			Help: "  -n N  the last N lines (default 10); +N from line N on\n  -c N  the last N bytes     -q  no names    -v  always names"},
		{Name: "wc", Usage: "[-lwcmL] [FILE]...", Summary: "count lines, words and bytes", Category: c, Files: "read", Run: wc,
			Help: "  -l  lines    -w  words    -c  bytes    -m  characters    -L  the longest line"},
		{Name: "tac", Usage: "[FILE]...", Summary: "print lines in reverse order", Category: c, Files: "read", Run: tac},
		{Name: "nl", Usage: "[-ba] [FILE]...", Summary: "number lines", Category: c, Files: "read", Run: nl, Help: "  -b a  all lines, -b t those that are not empty (default)"},
		{Name: "rev", Usage: "[FILE]...", Summary: "reverse the characters of each line", Category: c, Files: "read", Run: rev},
		{Name: "echo", Usage: "[-n] [-e] [TEXT]...", Summary: "print its arguments", Category: c, Files: "none", Run: echo},
		{Name: "seq", Usage: "[FIRST [STEP]] LAST", Summary: "print numbers", Category: c, Files: "none", Run: seq, Help: "  -s TEXT  between them    -w  equal widths"},
		{Name: "tee", Usage: "[-a] [FILE]...", Summary: "copy the input to files and to the output", Category: c, Files: "write", Run: tee},
		{Name: "paste", Usage: "[-s] [-d LIST] [FILE]...", Summary: "join lines of files side by side", Category: c, Files: "read", Run: paste},
		{Name: "sort", Usage: "[-nrufhVgb] [-k KEY] [-t SEP] [FILE]...", Summary: "sort lines, by bytes", Category: c, Files: "readwrite", Trouble: 2, Run: sorted, Help: sortHelp},
		{Name: "uniq", Usage: "[-cdui] [-f N] [-s N] [-w N] [INPUT [OUTPUT]]", Summary: "join equal lines that follow each other", Category: c, Files: "readwrite", Run: uniq,
			Help: "  -c  count    -d  only repeated    -u  only unique    -i  ignore case\n  -f N  skip N fields    -s N  skip N characters    -w N  compare N characters"},
		{Name: "cut", Usage: "-b|-c|-f LIST [-d C] [-s] [FILE]...", Summary: "print parts of lines", Category: c, Files: "read", Run: cut,
			Help: "  -b LIST  bytes    -c LIST  characters    -f LIST  fields\n  -d C  the fields' separator (default tab)    -s  only lines that have it\n  --complement  all but those    --output-delimiter=TEXT"},
		{Name: "tr", Usage: "[-cdst] SET1 [SET2]", Summary: "replace, delete or squeeze characters", Category: c, Files: "none", Run: tr,
			Help: "  -c  the complement of SET1    -d  delete    -s  squeeze    -t  cut SET1 to SET2's length"},
		{Name: "grep", Also: []string{"egrep", "fgrep"}, Usage: "[-EFGivnclLowxqrsHh] [-A N] [-B N] [-C N] [-m N] PATTERN [FILE]...", Summary: "print lines that match a pattern", Category: c, Files: "read", Trouble: 2, Run: grep, Help: grepHelp},
		{Name: "sed", Usage: "[-nErsz] [-i[SUFFIX]] SCRIPT [FILE]...", Summary: "edit a stream of lines", Category: c, Files: "readwrite", Run: sed, Help: sedHelp},
		{Name: "fzf", Usage: "-f QUERY [FILE]...", Summary: "filter lines by a fuzzy query, the best first", Category: c, Files: "read", Trouble: 2, Run: fzf,
			Help: "  words must all be found; 'word exactly, ^word at the beginning, word$ at the end, !word not; a | b either\n  -n N  the first N    -e  no fuzzy match    -s  keep the order    -i  ignore case    --case  heed case"},
	}
}

// lines calls do for each line, including its line end.
func lines(r io.Reader, do func(line []byte) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for {
		part, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if len(long) > 0 {
			long = append(long, part...)
			part = long
		}
		if len(part) > 0 {
			if err := do(part); err != nil {
				return err
			}
		}
		long = long[:0]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func bare(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\n")) }

func cat(e *tool.Env) error {
	o, err := e.Options("nbsETAuv", "number=n number-nonblank=b squeeze-blank=s show-ends=E show-tabs=T show-all=A")
	if err != nil {
		return err
	}
	if o.Last("nbsETAv") == 0 {
		buf := make([]byte, 256<<10)
		return e.Each(o.Args, func(_ string, r io.Reader) error {
			e.Stdout.Flush()
			_, err := io.CopyBuffer(struct{ io.Writer }{e.Stdout}, struct{ io.Reader }{r}, buf)
			return err
		})
	}
	n, empty := 0, false
	ends, tabs := o.Has('E') || o.Has('A'), o.Has('T') || o.Has('A')
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		return lines(r, func(line []byte) error {
			text := bare(line)
			if o.Has('s') && len(text) == 0 && empty {
				return nil
			}
			empty = len(text) == 0
			if o.Has('b') && !empty || o.Has('n') && !o.Has('b') {
				n++
				fmt.Fprintf(e.Stdout, "%6d\t", n)
			}
			if tabs {
				text = bytes.ReplaceAll(text, []byte("\t"), []byte("^I"))
			}
			e.Stdout.Write(text)
			if ends && len(line) > len(bare(line)) {
				e.Stdout.WriteByte('$')
			}
			_, err := e.Stdout.Write(line[len(bare(line)):])
			return err
		})
	})
}

func tac(e *tool.Env) error {
	return e.Each(e.Args, func(_ string, r io.Reader) error {
		all, err := io.ReadAll(r)
		for len(all) > 0 && err == nil {
			i := bytes.LastIndexByte(all[:len(all)-1], '\n') + 1
			_, err = e.Stdout.Write(all[i:])
			all = all[:i]
		}
		return err
	})
}

func nl(e *tool.Env) error {
	o, err := e.Options("b:", "body-numbering=b")
	if err != nil {
		return err
	}
	n := 0
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		return lines(r, func(line []byte) error {
			if len(bare(line)) == 0 && o.Value('b') != "a" {
				_, err := fmt.Fprintf(e.Stdout, "       %s\n", bare(line))
				return err
			}
			n++
			_, err := fmt.Fprintf(e.Stdout, "%6d\t%s\n", n, bare(line))
			return err
		})
	})
}

func rev(e *tool.Env) error {
	return e.Each(e.Args, func(_ string, r io.Reader) error {
		return lines(r, func(line []byte) error {
			text := bare(line)
			end := line[len(text):]
			for len(text) > 0 {
				_, n := utf8.DecodeLastRune(text)
				e.Stdout.Write(text[len(text)-n:])
				text = text[:len(text)-n]
			}
			_, err := e.Stdout.Write(end)
			return err
		})
	})
}

func echo(e *tool.Env) error {
	args, newline, escapes := e.Args, true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		newline = newline && !strings.Contains(args[0], "n")
		escapes = strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		text = unescape(text)
	}
	e.Stdout.WriteString(text)
	if newline {
		e.Stdout.WriteByte('\n')
	}
	return nil
}

// unescape returns s with the backslash sequences of echo -e, tr and paste replaced.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		j := i
		for j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '7' {
			j++
		}
		if j > i {
			n, _ := strconv.ParseUint(s[i:j], 8, 16)
			b.WriteByte(byte(n))
			i = j - 1
			continue
		}
		if k := strings.IndexByte(`abfnrtv\`, s[i]); k >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v\\"[k])
			continue
		}
		b.WriteByte('\\')
		b.WriteByte(s[i])
	}
	return b.String()
}

func seq(e *tool.Env) error {
	sep, width := "\n", false
	args := e.Args
	for len(args) > 0 {
		if args[0] == "-w" {
			width, args = true, args[1:]
		} else if args[0] == "-s" && len(args) > 1 {
			sep, args = args[1], args[2:]
		} else {
			break
		}
	}
	if len(args) == 0 || len(args) > 3 {
		return e.Usagef("want one to three numbers")
	}
	first, step, digits := 1.0, 1.0, 0
	nums := make([]float64, len(args))
	for i, a := range args {
		n, err := strconv.ParseFloat(a, 64)
		if err != nil || n != n || n-n != 0 {
			return tool.Errorf("invalid floating point argument: '%s'", a)
		}
		nums[i] = n
		if _, frac, ok := strings.Cut(a, "."); ok && (i < len(args)-1 || len(args) == 1) {
			digits = max(digits, len(frac))
		}
	}
	last := nums[len(nums)-1]
	if len(nums) > 1 {
		first = nums[0]
	}
	if len(nums) == 3 {
		step = nums[1]
	}
	if step == 0 {
		return tool.Errorf("invalid Zero increment value: '%s'", args[1])
	}
	wide := max(len(strconv.FormatFloat(first, 'f', digits, 64)), len(strconv.FormatFloat(last, 'f', digits, 64)))
	any := false
	for i := 0; ; i++ {
		x := first + float64(i)*step
		if step > 0 && x > last+1e-9 || step < 0 && x < last-1e-9 {
			break
		}
		if any {
			e.Stdout.WriteString(sep)
		}
		any = true
		text := strconv.FormatFloat(x, 'f', digits, 64)
		if width {
			text = fmt.Sprintf("%0*.*f", wide, digits, x)
		}
		if _, err := e.Stdout.WriteString(text); err != nil {
			return err
		}
	}
	if any {
		e.Stdout.WriteByte('\n')
	}
	return nil
}

func tee(e *tool.Env) error {
	o, err := e.Options("ai", "append=a")
	if err != nil {
		return err
	}
	out := []io.Writer{e.Stdout}
	for _, name := range o.Args {
		flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if o.Has('a') {
			flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		}
		f, err := os.OpenFile(name, flags, 0o644)
		if err != nil {
			e.Warn(name, err)
			continue
		}
		defer f.Close()
		out = append(out, f)
	}
	_, err = io.Copy(io.MultiWriter(out...), e.Stdin)
	return err
}

func paste(e *tool.Env) error {
	o, err := e.Options("sd:", "serial=s delimiters=d")
	if err != nil {
		return err
	}
	seps := "\t"
	if o.Has('d') {
		seps = unescape(o.Value('d'))
	}
	args := o.Args
	if len(args) == 0 {
		args = []string{"-"}
	}
	sep := func(i int) {
		if len(seps) > 0 {
			e.Stdout.WriteByte(seps[i%len(seps)])
		}
	}
	if o.Has('s') {
		return e.Each(args, func(_ string, r io.Reader) error {
			i := 0
			err := lines(r, func(line []byte) error {
				if i > 0 {
					sep(i - 1)
				}
				i++
				_, err := e.Stdout.Write(bare(line))
				return err
			})
			e.Stdout.WriteByte('\n')
			return err
		})
	}
	var stdin *bufio.Reader
	readers := make([]*bufio.Reader, len(args))
	for i, name := range args {
		if name == "-" {
			if stdin == nil {
				stdin = bufio.NewReader(e.Stdin)
			}
			readers[i] = stdin
			continue
		}
		r, err := e.Open(name)
		if err != nil {
			return err
		}
		defer r.Close()
		readers[i] = bufio.NewReader(r)
	}
	for {
		var row []string
		got := false
		for _, r := range readers {
			line, err := r.ReadString('\n')
			got = got || line != ""
			if err != nil && err != io.EOF {
				return err
			}
			row = append(row, strings.TrimSuffix(line, "\n"))
		}
		if !got {
			return nil
		}
		for i, cell := range row {
			if i > 0 {
				sep(i - 1)
			}
			e.Stdout.WriteString(cell)
		}
		if err := e.Stdout.WriteByte('\n'); err != nil {
			return err
		}
	}
}
