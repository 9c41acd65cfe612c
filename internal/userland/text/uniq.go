package text

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

func uniq(e *tool.Env) error {
	o, err := e.Options("cduif:s:w:zDR::G::", "all-repeated=R group=G zero-terminated=z count=c repeated=d unique=u ignore-case=i skip-fields=f skip-chars=s check-chars=w")
	if err != nil {
		return err
	}
	var skipFields, skipChars, width int
	if skipFields, err = e.Int(o, 'f', 0); err == nil {
		if skipChars, err = e.Int(o, 's', 0); err == nil {
			width, err = e.Int(o, 'w', math.MaxInt32)
		}
	}
	if err != nil {
		return err
	}
	if len(o.Args) > 2 {
		return e.Usagef("extra operand '%s'", o.Args[2])
	}
	var out io.Writer = e.Stdout
	if len(o.Args) == 2 && o.Args[1] != "-" {
		f, err := e.World.Create(o.Args[1], false)
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	key := func(line []byte) []byte {
		for range skipFields {
			line = bytes.TrimLeft(line, " \t")
			if i := bytes.IndexAny(line, " \t"); i >= 0 {
				line = line[i:]
			} else {
				line = nil
			}
		}
		line = line[min(skipChars, len(line)):]
		return line[:min(width, len(line))]
	}
	end := byte('\n')
	if o.Has('z') {
		end = 0
	}
	// Groups of equal lines are apart with --group and --all-repeated=separate or prepend.
	var apart byte
	printed, done := false, false
	if o.Has('G') {
		apart = (o.Value('G') + "s")[0]
	} else if o.Has('R') {
		apart = (o.Value('R') + "n")[0]
	}
	all := o.Has('D') || o.Has('R')
	group := func() {
		if apart == 'p' || apart == 'b' || apart == 's' && printed || apart == 'a' && printed {
			out.Write([]byte{end})
		}
		printed = true
	}
	var held []byte
	n := 0
	flush := func() error {
		if o.Has('G') {
			if done && n > 0 && (apart == 'a' || apart == 'b') {
				out.Write([]byte{end})
			}
			return nil
		}
		if n == 0 || all || o.Has('d') && n < 2 || o.Has('u') && n > 1 {
			return nil
		}
		if o.Has('c') {
			if _, err := fmt.Fprintf(out, "%7d ", n); err != nil {
				return err
			}
		}
		_, err := out.Write(append(held, end))
		return err
	}
	err = e.Each(o.Args[:min(1, len(o.Args))], func(_ string, r io.Reader) error {
		return e.Lines(r, end, func(line []byte) error {
			line = bytes.TrimSuffix(line, []byte{end})
			a, b := key(held), key(line)
			if n > 0 && (bytes.Equal(a, b) || o.Has('i') && bytes.EqualFold(a, b)) {
				n++
				if !all && !o.Has('G') {
					return nil
				}
				if n == 2 && !o.Has('G') {
					group()
					if _, err := out.Write(append(held, end)); err != nil {
						return err
					}
				}
				_, err := out.Write(append(bytes.Clone(line), end))
				return err
			}
			if err := flush(); err != nil {
				return err
			}
			held, n = append(held[:0], line...), 1
			if o.Has('G') {
				group()
				_, err := out.Write(append(bytes.Clone(line), end))
				return err
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	done = true
	return flush()
}
