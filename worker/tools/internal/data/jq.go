package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"
	"go.yaml.in/yaml/v3"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

const jqHelp = `  -r  strings without quotes    -j  and without line ends    -c  on one line    --tab  --indent N
  -n  null is the input    -s  all inputs as one array    -R  lines as strings    -S  keys sorted, as they always are    -e  the last value as exit code
  -f FILE  the filter    --arg NAME VALUE    --argjson NAME JSON    --slurpfile NAME FILE    --rawfile NAME FILE    --args  --jsonargs`

// querier is one call of jq or yq.
type querier struct {
	e            *tool.Env
	o            *tool.Opts
	filter       string
	files        []string
	names        []string
	values       []any
	fromYAML     bool
	toYAML       bool
	indent       string
	docs         int
	falsy, wrote bool
}

func query(e *tool.Env) error {
	q := &querier{e: e, indent: "  "}
	if err := q.options(); err != nil {
		return err
	}
	parsed, err := gojq.Parse(q.filter)
	if err != nil {
		return &tool.Exit{Code: 3, Text: "invalid query: " + q.filter + ": " + err.Error()}
	}
	inputs := q.inputs()
	code, err := gojq.Compile(parsed, gojq.WithVariables(q.names), gojq.WithInputIter(inputs),
		gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return &tool.Exit{Code: 3, Text: "compile error: " + err.Error()}
	}
	failed := false
	run := func(v any) error {
		for it := code.Run(v, q.values...); ; {
			v, ok := it.Next()
			if !ok {
				return nil
			}
			if err, ok := v.(error); ok {
				var halt *gojq.HaltError
				if errors.As(err, &halt) {
					if text, ok := halt.Value().(string); ok {
						fmt.Fprint(e.Stderr, text)
					} else if halt.Value() != nil {
						b, _ := gojq.Marshal(halt.Value())
						fmt.Fprintf(e.Stderr, "%s\n", b)
					}
					return tool.Code(halt.ExitCode())
				}
				e.Stdout.Flush()
				fmt.Fprintf(e.Stderr, "%s: error: %v\n", e.Name, err)
				failed = true
				return nil
			}
			if err := q.write(v); err != nil {
				return err
			}
		}
	}
	if q.o.Has('n') {
		err = run(nil)
	} else {
		for {
			v, ok := inputs.Next()
			if !ok {
				break
			}
			if bad, ok := v.(error); ok {
				e.Stdout.Flush()
				return &tool.Exit{Code: 2, Text: bad.Error()}
			}
			if err = run(v); err != nil {
				break
			}
		}
	}
	switch {
	case err != nil:
		return err
	case failed:
		return tool.Code(5)
	case q.o.Has('e') && !q.wrote:
		return tool.Code(4)
	case q.o.Has('e') && q.falsy:
		return tool.Code(1)
	}
	return nil
}

// options parses the arguments. It first takes the options with two values, which getopt can't
// express.
func (q *querier) options() error {
	var rest []string
	named := map[string]any{}
	positional := []any{}
	args := q.e.Args
	mode := ""
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch a {
		case "--arg", "--argjson", "--slurpfile", "--rawfile":
			if len(args) < 2 {
				return q.e.Usagef("%s takes a name and a value", a)
			}
			v, err := q.variable(a, args[1])
			if err != nil {
				return err
			}
			q.names, q.values = append(q.names, "$"+args[0]), append(q.values, v)
			named[args[0]] = v
			args = args[2:]
		case "--args", "--jsonargs":
			mode = a
		default:
			rest = append(rest, a)
		}
	}
	env := *q.e
	env.Args = rest
	var err error
	if q.o, err = env.Options("rjcsnRSeaCMf:o:1:2", "raw-output=r join-output=j compact-output=c slurp=s null-input=n raw-input=R sort-keys=S exit-status=e ascii-output=a "+
		"color-output=C monochrome-output=M from-file=f output-format=o indent=1 tab=2"); err != nil {
		return err
	}
	q.files = q.o.Args
	if q.o.Has('f') {
		text, err := q.e.ReadAll(q.o.Value('f'))
		if err != nil {
			return err
		}
		q.filter = string(text)
	} else if len(q.files) > 0 {
		q.filter, q.files = q.files[0], q.files[1:]
	} else {
		q.filter = "."
	}
	if mode != "" {
		for _, a := range q.files {
			v, err := any(a), error(nil)
			if mode == "--jsonargs" {
				v, err = decode(a)
			}
			if err != nil {
				return err
			}
			positional = append(positional, v)
		}
		q.files = nil
	}
	q.names = append(q.names, "$ARGS")
	q.values = append(q.values, map[string]any{"named": named, "positional": positional})
	q.fromYAML = q.e.Name == "yq"
	q.toYAML = q.fromYAML && q.o.Value('o') != "json"
	n, err := q.e.Int(q.o, '1', 2)
	switch {
	case err != nil || n > 7:
		return q.e.Usagef("the indentation is from 0 to 7")
	case q.o.Has('c') || n == 0:
		q.indent = ""
	case q.o.Has('2'):
		q.indent = "\t"
	default:
		q.indent = strings.Repeat(" ", n)
	}
	return nil
}

func (q *querier) variable(kind, value string) (any, error) {
	switch kind {
	case "--argjson":
		return decode(value)
	case "--arg":
		return value, nil
	}
	text, err := q.e.ReadAll(value)
	if err != nil || kind == "--rawfile" {
		return string(text), err
	}
	all := []any{}
	for d := decoder(bytes.NewReader(text)); ; {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

func decoder(r io.Reader) *json.Decoder {
	d := json.NewDecoder(r)
	d.UseNumber()
	return d
}

func decode(text string) (v any, err error) {
	if err = decoder(strings.NewReader(text)).Decode(&v); err != nil {
		err = fmt.Errorf("'%s' is no JSON: %w", text, err)
	}
	return v, err
}

// inputs returns the values of all files, one after the other.
func (q *querier) inputs() gojq.Iter {
	var next func() (any, error)
	files := q.files
	if len(files) == 0 {
		files = []string{"-"}
	}
	it := iterator(func() (any, bool) {
		for {
			if next == nil {
				if len(files) == 0 {
					return nil, false
				}
				r, err := q.e.Open(files[0])
				if err != nil {
					err = fmt.Errorf("%s: %s", files[0], tool.Reason(err))
				}
				files = files[1:]
				if err != nil {
					return err, true
				}
				next = q.reader(r)
			}
			v, err := next()
			if err == io.EOF {
				next = nil
				continue
			}
			if err != nil {
				next, files = nil, nil
				return err, true
			}
			return v, true
		}
	})
	if !q.o.Has('s') {
		return it
	}
	done := false
	return iterator(func() (any, bool) {
		if done {
			return nil, false
		}
		done = true
		all := []any{}
		for v, ok := it(); ok; v, ok = it() {
			if err, ok := v.(error); ok {
				return err, true
			}
			all = append(all, v)
		}
		if q.o.Has('R') {
			var b strings.Builder
			for _, v := range all {
				b.WriteString(v.(string) + "\n")
			}
			return b.String(), true
		}
		return all, true
	})
}

type iterator func() (any, bool)

func (it iterator) Next() (any, bool) { return it() }

func (q *querier) reader(r io.Reader) func() (any, error) {
	switch {
	case q.o.Has('R'):
		all, err := io.ReadAll(r)
		rows := strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")
		if len(all) == 0 {
			rows = nil
		}
		return func() (any, error) {
			if err != nil || len(rows) == 0 {
				if err == nil {
					err = io.EOF
				}
				return nil, err
			}
			row := rows[0]
			rows = rows[1:]
			return row, nil
		}
	case q.fromYAML:
		d := yaml.NewDecoder(r)
		return func() (any, error) {
			var v any
			if err := d.Decode(&v); err != nil {
				return nil, err
			}
			return fromYAML(v)
		}
	}
	d := decoder(r)
	return func() (any, error) {
		var v any
		err := d.Decode(&v)
		if err != nil && err != io.EOF {
			err = fmt.Errorf("invalid json: %w", err)
		}
		return v, err
	}
}

func (q *querier) write(v any) error {
	out := q.e.Stdout
	q.wrote, q.falsy = true, v == nil || v == false
	if s, ok := v.(string); ok && (q.o.Has('r') || q.o.Has('j')) {
		out.WriteString(s)
		if !q.o.Has('j') {
			out.WriteByte('\n')
		}
		return nil
	}
	if q.toYAML {
		if q.docs++; q.docs > 1 {
			out.WriteString("---\n")
		}
		enc := yaml.NewEncoder(out)
		enc.SetIndent(2)
		if err := enc.Encode(toYAML(v)); err != nil {
			return err
		}
		return enc.Close()
	}
	b, err := gojq.Marshal(v)
	if err != nil {
		return err
	}
	if q.o.Has('a') {
		b = ascii(b)
	}
	if q.indent != "" {
		var nice bytes.Buffer
		if err := json.Indent(&nice, b, "", q.indent); err != nil {
			return err
		}
		b = nice.Bytes()
	}
	out.Write(b)
	if !q.o.Has('j') {
		return out.WriteByte('\n')
	}
	return nil
}

func ascii(b []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(b) {
		switch {
		case r < 0x80:
			out.WriteByte(byte(r))
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
