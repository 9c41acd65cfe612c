// Package text holds the commands that read and write lines.
package text

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/posix"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Commands returns the most used commands of this package.
func Commands() tool.Set {
	const c = "text"
	return tool.Set{
		{Name: "cat", Usage: "[-nbsvETAet] [FILE]...", Summary: "print files, one after the other", Category: c, Files: "read", Run: cat,
			Help: "  -n  number all lines    -b  number those that are not empty\n  -s  squeeze empty lines -E  show ends as $    -T  show tabs as ^I    -v  show other control characters\n  -A  as -vET    -e  as -vE    -t  as -vT"},
		{Name: "head", Usage: "[-n N] [-c N] [FILE]...", Summary: "print the beginning of files", Category: c, Files: "read", Run: head,
			Help: "  -n N  the first N lines (default 10); -N all but the last N\n  -c N  the first N bytes    -q  no names    -v  always names"},
		{Name: "tail", Usage: "[-n [+]N] [-c [+]N] [FILE]...", Summary: "print the end of files", Category: c, Files: "read", Run: tail,
			Help: "  -n N  the last N lines (default 10); +N from line N on\n  -c N  the last N bytes     -q  no names    -v  always names"},
		{Name: "wc", Usage: "[-lwcmL] [FILE]...", Summary: "count lines, words and bytes", Category: c, Files: "read", Run: wc,
			Help: "  -l  lines    -w  words    -c  bytes    -m  characters    -L  the longest line"},
		{Name: "tac", Usage: "[FILE]...", Summary: "print lines in reverse order", Category: c, Files: "read", Run: tac},
		{Name: "nl", Usage: "[-b a|t|n] [-w N] [-s TEXT] [-v N] [-i N] [FILE]...", Summary: "number lines", Category: c, Files: "read", Run: nl, Help: "  -b a  all lines, -b t those that are not empty (default)    -w N  the width    -s TEXT  after the number    -v N  the first    -i N  the step    -n ln|rn|rz"},
		{Name: "rev", Usage: "[FILE]...", Summary: "reverse the characters of each line", Category: c, Files: "read", Run: rev},
		{Name: "seq", Usage: "[FIRST [STEP]] LAST", Summary: "print numbers", Category: c, Files: "none", Run: seq, Help: "  -s TEXT  between them    -w  equal widths    -f FORMAT  such as %03g"},
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
	}
}

func bare(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\n")) }

func cat(e *tool.Env) error {
	o, err := e.Options("nbsETAuvet", "number=n number-nonblank=b squeeze-blank=s show-ends=E show-tabs=T show-all=A show-nonprinting=v")
	if err != nil {
		return err
	}
	if o.Last("nbsETAvet") == 0 {
		buf := make([]byte, 64<<10)
		return e.Each(o.Args, func(_ string, r io.Reader) error {
			e.Stdout.Flush()
			for {
				n, err := r.Read(buf)
				e.World.Spend(n + 1)
				if _, err := e.Stdout.Write(buf[:n]); err != nil {
					return err
				}
				if err == nil {
					// A reader further on sees each part when it comes.
					err = e.Stdout.Flush()
				}
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
			}
		})
	}
	n, empty := 0, false
	ends, tabs, odd := o.Last("EAe") != 0, o.Last("TAt") != 0, o.Last("vAet") != 0
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
			text := bare(line)
			if o.Has('s') && len(text) == 0 && empty {
				return nil
			}
			empty = len(text) == 0
			if o.Has('b') && !empty || o.Has('n') && !o.Has('b') {
				n++
				fmt.Fprintf(e.Stdout, "%6d\t", n)
			}
			for _, c := range text {
				switch {
				case c == '\t' && tabs:
					e.Stdout.WriteString("^I")
				case c == '\t' || !odd:
					e.Stdout.WriteByte(c)
				default:
					if c >= 128 {
						e.Stdout.WriteString("M-")
						c -= 128
					}
					if c < 32 || c == 127 {
						e.Stdout.WriteByte('^')
						c ^= 64
					}
					e.Stdout.WriteByte(c)
				}
			}
			if ends && len(line) > len(text) {
				e.Stdout.WriteByte('$')
			}
			_, err := e.Stdout.Write(line[len(text):])
			return err
		})
	})
}

func tac(e *tool.Env) error {
	o, err := e.Options("brs:", "before=b regex=r separator=s")
	if err != nil {
		return err
	}
	expr := "\n"
	var re *posix.Regexp
	if o.Has('s') && o.Value('s') != "" {
		expr = o.Value('s')
	}
	kind := posix.Fixed
	if o.Has('r') {
		kind = posix.Basic
	}
	if o.Has('s') {
		if re, err = posix.Compile(expr, kind, ""); err != nil {
			return err
		}
		re.Spend = e.Bounded()
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		all, err := e.Slurp(r)
		if re != nil && err == nil {
			return tacBy(e, all, re, o.Has('b'))
		}
		for len(all) > 0 && err == nil {
			i := bytes.LastIndexByte(all[:len(all)-1], '\n') + 1
			_, err = e.Stdout.Write(all[i:])
			all = all[:i]
		}
		return err
	})
}

// tacBy prints the records of a text from the last to the first. A separator belongs to the record before it, or to the next one.
func tacBy(e *tool.Env, all []byte, re *posix.Regexp, before bool) error {
	cuts := []int{0}
	for at := 0; at < len(all); {
		m := re.Find(all, at)
		if m == nil {
			break
		}
		if m[1] == m[0] {
			at = m[1] + 1
			continue
		}
		cut := m[1]
		if before {
			cut = m[0]
		}
		if cut > cuts[len(cuts)-1] && cut < len(all) {
			cuts = append(cuts, cut)
		}
		at = m[1]
		e.World.Spend(64)
	}
	for end := len(all); len(cuts) > 0; cuts = cuts[:len(cuts)-1] {
		if _, err := e.Stdout.Write(all[cuts[len(cuts)-1]:end]); err != nil {
			return err
		}
		end = cuts[len(cuts)-1]
	}
	return nil
}

func nl(e *tool.Env) error {
	o, err := e.Options("b:w:s:v:i:n:d:h:f:l:p", "section-delimiter=d header-numbering=h footer-numbering=f join-blank-lines=l no-renumber=p body-numbering=b number-width=w number-separator=s starting-line-number=v line-increment=i number-format=n")
	if err != nil {
		return err
	}
	width, sep, step, first := 6, "\t", 1, 1
	for c, n := range map[rune]*int{'w': &width, 'i': &step, 'v': &first} {
		if o.Has(c) {
			if *n, err = strconv.Atoi(o.Value(c)); err != nil || *n > 1<<20 || *n < -1<<20 {
				return tool.Errorf("invalid number: '%s'", o.Value(c))
			}
		}
	}
	if o.Has('s') {
		sep = o.Value('s')
	}
	format := map[string]string{"": "%*d", "rn": "%*d", "ln": "%-*d", "rz": "%0*d"}[o.Value('n')]
	style := o.Value('b')
	var re *posix.Regexp
	if expr, ok := strings.CutPrefix(style, "p"); ok {
		if re, err = posix.Compile(expr, posix.Basic, ""); err != nil {
			return err
		}
		re.Spend, style = e.Bounded(), ""
	}
	joined, err := e.Int(o, 'l', 1)
	if err != nil {
		return err
	}
	blanks := 0
	if format == "" || width < 1 || style != "" && strings.Trim(style, "atn") != "" {
		return e.Usagef("-n takes ln, rn or rz, -b takes a, t, n or pREGEXP, and -w at least 1")
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
			if len(bare(line)) == 0 {
				blanks = (blanks + 1) % max(joined, 1)
			} else {
				blanks = 0
			}
			if style == "n" || re != nil && !re.Match(bare(line)) || re == nil && len(bare(line)) == 0 && (style != "a" || blanks != 0) {
				_, err := fmt.Fprintf(e.Stdout, "%*s%s\n", width+len(sep), "", bare(line))
				return err
			}
			_, err := fmt.Fprintf(e.Stdout, format+"%s%s\n", width, first, sep, bare(line))
			first += step
			return err
		})
	})
}

func rev(e *tool.Env) error {
	return e.Each(e.Args, func(_ string, r io.Reader) error {
		return e.Lines(r, '\n', func(line []byte) error {
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

func unescape(s string) string { return tool.Unescape(s) }

// maxSeq is the most numbers that seq prints.
const maxSeq = 1_000_000

func seq(e *tool.Env) error {
	sep, width, format := "\n", false, ""
	args := e.Args
options:
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.IndexByte("0123456789.", args[0][1]) < 0 {
		value := func(short, long string) (string, bool) {
			switch a := args[0]; {
			case a == short || a == long:
				if len(args) < 2 {
					return "", false
				}
				args = args[1:]
				return args[0], true
			case strings.HasPrefix(a, short) && !strings.HasPrefix(a, "--"):
				return a[len(short):], true
			case strings.HasPrefix(a, long+"="):
				return a[len(long)+1:], true
			}
			return "", false
		}
		switch a := args[0]; {
		case a == "--":
			args = args[1:]
			break options
		case a == "-w" || a == "--equal-width":
			width = true
		case a == "--help":
			_, err := e.Options("", "")
			return err
		default:
			if v, ok := value("-s", "--separator"); ok {
				sep = v
			} else if v, ok := value("-f", "--format"); ok {
				format = v
			} else {
				return e.Usagef("invalid option %s", a)
			}
		}
		args = args[1:]
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
	if (last-first)/step+1 > maxSeq {
		return tool.Errorf("more than 1,000,000 numbers")
	}
	if len(sep)*int(max((last-first)/step, 0)) > 16<<20 {
		return tool.Errorf("the output is longer than 16 MiB")
	}
	if format != "" && !seqFormat(format) {
		return tool.Errorf("format '%s' has no %% directive of one number", format)
	}
	wide := max(len(strconv.FormatFloat(first, 'f', digits, 64)), len(strconv.FormatFloat(last, 'f', digits, 64)))
	any := false
	for i := 0; ; i++ {
		x := first + float64(i)*step
		if step > 0 && x > last+1e-9 || step < 0 && x < last-1e-9 || i > maxSeq {
			break
		}
		if any {
			e.Stdout.WriteString(sep)
		}
		any = true
		text := strconv.FormatFloat(x, 'f', digits, 64)
		switch {
		case format != "":
			text = fmt.Sprintf(format, x)
		case width:
			text = fmt.Sprintf("%0*.*f", wide, digits, x)
		}
		e.World.Spend(len(text) + 16)
		if _, err := e.Stdout.WriteString(text); err != nil {
			return err
		}
	}
	if any {
		e.Stdout.WriteByte('\n')
	}
	return nil
}

// seqFormat reports whether a format has exactly one directive, for a number of at most 99 characters.
func seqFormat(format string) bool {
	format = strings.ReplaceAll(format, "%%", "")
	_, rest, ok := strings.Cut(format, "%")
	rest = strings.TrimLeft(rest, "-+ 0#")
	digits := strings.TrimLeft(rest, "0123456789.")
	return ok && len(rest)-len(digits) <= 4 && digits != "" && strings.IndexByte("fgeFGE", digits[0]) >= 0 && !strings.Contains(digits, "%")
}

func tee(e *tool.Env) error {
	o, err := e.Options("ai", "append=a ignore-interrupts=i")
	if err != nil {
		return err
	}
	var files []io.WriteCloser
	var names []string
	for _, name := range o.Args {
		f, err := e.World.Create(name, o.Has('a'))
		if err != nil {
			e.Warn(name, err)
			continue
		}
		files, names = append(files, f), append(names, name)
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := e.Stdin.Read(buf)
		e.World.Spend(n + 1)
		for _, f := range files {
			if _, err := f.Write(buf[:n]); err != nil {
				return err
			}
		}
		e.Stdout.Write(buf[:n])
		e.Stdout.Flush() // a closed output does not end the files
		if err != nil {
			break
		}
	}
	for i, f := range files {
		if err := f.Close(); err != nil {
			e.Warn(names[i], err)
		}
	}
	return nil
}

func paste(e *tool.Env) error {
	o, err := e.Options("sd:z", "serial=s delimiters=d zero-terminated=z")
	if err != nil {
		return err
	}
	seps := "\t"
	if o.Has('d') {
		seps = unescape(o.Value('d'))
	}
	end := byte('\n')
	if o.Has('z') {
		end = 0
	}
	args := o.Args
	if len(args) == 0 {
		args = []string{"-"}
	}
	sep := func(i int) {
		if len(seps) > 0 && seps[i%len(seps)] != 0 { // \0 is nothing
			e.Stdout.WriteByte(seps[i%len(seps)])
		}
	}
	if o.Has('s') {
		return e.Each(args, func(_ string, r io.Reader) error {
			i := 0
			err := e.Lines(r, end, func(line []byte) error {
				if i > 0 {
					sep(i - 1)
				}
				i++
				_, err := e.Stdout.Write(bytes.TrimSuffix(line, []byte{end}))
				return err
			})
			e.Stdout.WriteByte(end)
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
		e.World.Spend(1 << 10)
		var row []string
		got := false
		for _, r := range readers {
			line, err := r.ReadString(end)
			e.World.Spend(len(line))
			got = got || line != ""
			if err != nil && err != io.EOF {
				return err
			}
			row = append(row, strings.TrimSuffix(line, string(end)))
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
		if err := e.Stdout.WriteByte(end); err != nil {
			return err
		}
	}
}
