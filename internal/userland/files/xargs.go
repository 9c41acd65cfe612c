package files

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

func xargs(e *tool.Env) error {
	o, err := e.Options("+0rtn:I:i::d:L:l::P:s:a:xpE:", "null=0 no-run-if-empty=r verbose=t max-args=n replace=i delimiter=d max-lines=L max-procs=P max-chars=s arg-file=a exit=x")
	if err != nil {
		return err
	}
	argv := o.Args
	if len(argv) == 0 {
		argv = []string{"echo"}
	}
	in := e.Stdin
	if o.Has('a') {
		f, err := e.Open(o.Value('a'))
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	} else {
		e.Stdin = strings.NewReader("") // of the commands
	}
	replace, each := "", o.Has('I') || o.Has('i')
	if each {
		if replace = o.Value(o.Last("Ii")); replace == "" {
			replace = "{}"
		}
	}
	data, err := e.Slurp(in)
	if err != nil {
		return err
	}
	if len(data) > maxCommand {
		panic(tool.TooMuch("the input is longer than 16 MiB"))
	}
	words, err := arguments(e, string(data), o, each)
	if err != nil {
		return err
	}
	if end := o.Value('E'); end != "" && !o.Has('0') && !o.Has('d') {
		if i := slices.Index(words, end); i >= 0 {
			words = words[:i]
		}
	}
	if size, err := e.Int(o, 's', 0); err == nil && size > 0 && (o.Has('x') || each) {
		for _, w := range words {
			if len(strings.Join(argv, " "))+len(w)+2 > size {
				return tool.Errorf("argument list too long")
			}
		}
	}
	most, err := e.Int(o, 'n', 1<<30)
	if err == nil && o.Has('P') {
		_, err = e.Int(o, 'P', 1) // the calls run one after the other
	}
	if err != nil {
		return err
	}
	if most == 0 {
		return tool.Errorf("value 0 for -n option should be >= 1")
	}
	code := 0
	run := func(args []string) error {
		e.World.Spend(1024)
		if o.Has('t') {
			fmt.Fprintln(e.Stderr, strings.Join(args, " "))
		}
		e.Stdout.Flush()
		switch n := e.World.Run(e, args, nil); {
		case n == 126 || n == 127:
			return tool.Code(n)
		case n == 255:
			return &tool.Exit{Code: 124, Text: args[0] + ": exited with status 255; aborting"}
		case n != 0:
			code = 123
		}
		return nil
	}
	if each {
		for _, w := range words {
			if err := run(substitute(argv, replace, w)); err != nil {
				return err
			}
		}
		return tool.Code(code)
	}
	if o.Has('L') || o.Has('l') {
		n := 1
		if v := o.Value(o.Last("Ll")); v != "" {
			if n, err = strconv.Atoi(v); err != nil || n < 1 {
				return tool.Errorf("invalid number \"%s\" for -L option", v)
			}
		}
		var rows []string
		for row := range strings.SplitSeq(string(data), "\n") {
			if strings.TrimSpace(row) != "" {
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 && !o.Has('r') {
			if err := run(argv); err != nil {
				return err
			}
		}
		for part := range slices.Chunk(rows, n) {
			words, err := shellWords(strings.Join(part, "\n"))
			if err != nil {
				return err
			}
			if err := run(append(slices.Clone(argv), words...)); err != nil {
				return err
			}
		}
		return tool.Code(code)
	}
	if len(words) == 0 && !o.Has('r') {
		if err := run(argv); err != nil {
			return err
		}
	}
	for len(words) > 0 {
		n, total := 0, 0
		for n < len(words) && n < most && (n == 0 || total+len(words[n]) < batch) {
			total += len(words[n]) + 1
			n++
		}
		if err := run(append(slices.Clone(argv), words[:n]...)); err != nil {
			return err
		}
		words = words[n:]
	}
	return tool.Code(code)
}

// maxWords is the most words of an input.
const maxWords = 2_000_000

// arguments splits the input into words as xargs does. Blanks separate words. Quotes and backslashes protect blanks.
func arguments(e *tool.Env, text string, o *tool.Opts, each bool) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	e.World.Hold(len(text))
	sep := ""
	switch {
	case o.Has('0'):
		sep = "\x00"
	case o.Has('d'):
		if sep = tool.Unescape(o.Value('d')); len(sep) != 1 {
			return nil, tool.Errorf("the delimiter must be a single character")
		}
	}
	if sep != "" {
		if strings.Count(text, sep) > maxWords {
			return nil, tool.Errorf("more than 2,000,000 words")
		}
		return strings.Split(strings.TrimSuffix(text, sep), sep), nil
	}
	if strings.Count(text, " ")+strings.Count(text, "\n") > maxWords {
		return nil, tool.Errorf("more than 2,000,000 words")
	}
	if each {
		var rows []string
		for row := range strings.SplitSeq(text, "\n") {
			if row = strings.TrimLeft(row, " \t"); row != "" {
				rows = append(rows, unquoted(row))
			}
		}
		return rows, nil
	}
	return shellWords(text)
}

// unquoted removes the quotes of a line.
func unquoted(row string) string {
	if !strings.ContainsAny(row, `'"\\`) {
		return row
	}
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(row); i++ {
		switch c := row[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '\\' && i+1 < len(row):
			i++
			b.WriteByte(row[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func shellWords(text string) (words []string, err error) {
	var b strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0 && c == '\n':
			return nil, tool.Errorf("unmatched quote; use -0 for names that have quotes")
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			open = true
		case strings.IndexByte(" \t\n\r\f\v", c) >= 0:
			if open {
				words = append(words, b.String())
				b.Reset()
			}
			open = false
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if quote != 0 {
		return nil, tool.Errorf("unmatched quote; use -0 for names that have quotes")
	}
	if open {
		words = append(words, b.String())
	}
	return words, nil
}
