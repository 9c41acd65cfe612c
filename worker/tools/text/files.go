package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// cut -d delimiter -f list [file…], or -c list
func cut(args []string, in io.Reader, out io.Writer) error {
	delimiter, list, chars := "\t", "", false
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-d":
			delimiter = args[1]
		case "-f", "-c":
			list, chars = args[1], args[0] == "-c"
		default:
			return fmt.Errorf("unknown option %s", args[0])
		}
		args = args[2:]
	}
	wanted, err := ranges(list)
	if err != nil {
		return err
	}
	text, err := input(args, in)
	if err != nil {
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		var parts []string
		switch {
		case chars:
			parts, delimiter = strings.Split(line, ""), ""
		case !strings.Contains(line, delimiter):
			b.WriteString(line + "\n")
			continue
		default:
			parts = strings.Split(line, delimiter)
		}
		var kept []string
		for i, p := range parts {
			if wanted(i + 1) {
				kept = append(kept, p)
			}
		}
		b.WriteString(strings.Join(kept, delimiter) + "\n")
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// ranges reads "1,3-5,7-".
func ranges(list string) (func(int) bool, error) {
	var spans [][2]int
	for part := range strings.SplitSeq(list, ",") {
		from, to, span := strings.Cut(part, "-")
		lo, err := strconv.Atoi(from)
		if from == "" && span {
			lo, err = 1, nil
		}
		hi := lo
		if span {
			if hi = 1 << 30; to != "" {
				if n, err2 := strconv.Atoi(to); err2 == nil {
					hi = n
				} else {
					err = err2
				}
			}
		}
		if err != nil || lo < 1 || hi < lo {
			return nil, fmt.Errorf("%q is no list of fields: write -f 1,3-5", list)
		}
		spans = append(spans, [2]int{lo, hi})
	}
	return func(n int) bool {
		for _, s := range spans {
			if n >= s[0] && n <= s[1] {
				return true
			}
		}
		return false
	}, nil
}

func xxd(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 2 && args[0] == "-r" && args[1] == "-p" {
		text, err := input(nil, in)
		if err != nil {
			return err
		}
		b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return err
		}
		_, err = out.Write(b)
		return err
	}
	text, err := input(args, in)
	if err != nil {
		return err
	}
	d := hex.Dumper(out)
	if _, err := io.WriteString(d, text); err != nil {
		return err
	}
	return d.Close()
}

func tree(args []string, _ io.Reader, out io.Writer) error {
	root := "."
	if len(args) > 1 {
		return errors.New("usage: tree [folder]")
	} else if len(args) == 1 {
		root = args[0]
	}
	files, dirs := 0, 0
	fmt.Fprintln(out, root)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			dirs++
		} else {
			files++
		}
		_, err = fmt.Fprintf(out, "%s%s\n", strings.Repeat("  ", 1+strings.Count(name, "/")), path.Base(name))
		return err
	})
	if err == nil {
		_, err = fmt.Fprintf(out, "%d folders, %d files\n", dirs, files)
	}
	return err
}
