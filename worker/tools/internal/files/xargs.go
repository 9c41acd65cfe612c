package files

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/worker/tools/internal/tool"
)

func xargs(e *tool.Env) error {
	o, err := e.Options("+0rtn:I:d:L:P:", "null=0 no-run-if-empty=r verbose=t max-args=n replace=I delimiter=d max-lines=L max-procs=P")
	if err != nil {
		return err
	}
	argv := o.Args
	if len(argv) == 0 {
		argv = []string{"echo"}
	}
	words, err := arguments(e.Stdin, o)
	if err != nil {
		return err
	}
	each, err := e.Int(o, 'n', 5000)
	if err != nil {
		return err
	}
	if o.Has('L') {
		if each, err = e.Int(o, 'L', 1); err != nil {
			return err
		}
	}
	if each == 0 {
		return tool.Errorf("value 0 for -n option should be >= 1")
	}
	code := 0
	run := func(args []string) error {
		if o.Has('t') {
			fmt.Fprintln(e.Stderr, strings.Join(args, " "))
		}
		switch n := call(e, args); {
		case n == 127:
			return tool.Code(127)
		case n == 255:
			return &tool.Exit{Code: 124, Text: args[0] + ": exited with status 255; aborting"}
		case n != 0:
			code = 123
		}
		return nil
	}
	if o.Has('I') {
		for _, w := range words {
			args := slices.Clone(argv)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], o.Value('I'), w)
			}
			if err := run(args); err != nil {
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
	for batch := range slices.Chunk(words, each) {
		if err := run(append(slices.Clone(argv), batch...)); err != nil {
			return err
		}
	}
	return tool.Code(code)
}

// arguments reads words as xargs does. Blanks separate words. Quotes and backslashes protect
// blanks.
func arguments(r io.Reader, o *tool.Opts) ([]string, error) {
	all, err := io.ReadAll(bufio.NewReader(r))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	text := string(all)
	sep := ""
	switch {
	case o.Has('0'):
		sep = "\x00"
	case o.Has('d'):
		if sep = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00").Replace(o.Value('d')); len(sep) != 1 {
			return nil, tool.Errorf("the delimiter must be a single character")
		}
	}
	if sep != "" {
		return strings.Split(strings.TrimSuffix(text, sep), sep), nil
	}
	if o.Has('I') {
		var rows []string
		for row := range strings.SplitSeq(text, "\n") {
			if row = strings.TrimLeft(row, " \t"); row != "" {
				rows = append(rows, row)
			}
		}
		return rows, nil
	}
	return shellWords(text)
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
