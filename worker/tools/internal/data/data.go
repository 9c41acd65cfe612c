// Package data holds the commands for structured text: JSON, YAML, TOML, CSV, XML, records.
package data

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Commands returns the commands of this package.
func Commands() tool.Set {
	const c = "data"
	return tool.Set{
		{Name: "yq", Usage: "[-rcsnSe] [-o yaml|json] FILTER [FILE]...", Summary: "query and change YAML with jq's language", Category: c, Files: "read", Trouble: 2, Run: query,
			Help: jqHelp + "\n  -o FORM  yaml (default) or json. Keys come out sorted, and comments are not kept."},
		{Name: "toml2json", Usage: "[-c] [FILE]", Summary: "turn TOML into JSON", Category: c, Files: "read", Run: toml2json, Help: "  -c  on one line"},
		{Name: "csv", Usage: "[-d C] [-s COLUMNS] [-w COLUMN=VALUE] [-o COLUMN] [-t FORM] [-n N] [FILE]", Summary: "choose, filter, sort and convert tables", Category: c, Files: "read", Run: table, Help: tableHelp},
		{Name: "xmllint", Usage: "[--noout] [--format] [FILE]...", Summary: "check that XML is well formed", Category: c, Files: "read", Run: xmllint},
	}
}

func toml2json(e *tool.Env) error {
	o, err := e.Options("c", "compact=c")
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(name string, r io.Reader) error {
		var v map[string]any
		if _, err := toml.NewDecoder(r).Decode(&v); err != nil {
			var bad toml.ParseError
			if errors.As(err, &bad) {
				return errors.New(strings.TrimSpace(bad.ErrorWithPosition()))
			}
			return err
		}
		enc := json.NewEncoder(e.Stdout)
		enc.SetEscapeHTML(false)
		if !o.Has('c') {
			enc.SetIndent("", "  ")
		}
		return enc.Encode(plain(v))
	})
}

// plain returns a TOML value as a value that JSON can represent.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case float64:
		if v-v != 0 { // NaN or infinite
			return fmt.Sprint(v)
		}
	case time.Time:
		switch v.Location().String() {
		case "date-local":
			return v.Format("2006-01-02")
		case "time-local":
			return v.Format("15:04:05.999999999")
		case "datetime-local":
			return v.Format("2006-01-02T15:04:05.999999999")
		}
	}
	return v
}

func xmllint(e *tool.Env) error {
	o, err := e.Options("nf", "noout=n format=f")
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(name string, r io.Reader) error {
		all, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := wellFormed(all); err != nil {
			e.Stdout.Flush()
			return &tool.Exit{Code: 1, Text: name + ": " + err.Error()}
		}
		switch {
		case o.Has('n'):
		case o.Has('f'):
			return indentXML(e.Stdout, all)
		default:
			e.Stdout.Write(bytes.TrimRight(all, "\n"))
			e.Stdout.WriteByte('\n')
		}
		return nil
	})
}

// wellFormed returns nil if the document has exactly one element, and only comments around it.
func wellFormed(all []byte) error {
	d := xml.NewDecoder(bytes.NewReader(all))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "us-ascii", "ascii":
			return in, nil
		}
		return nil, fmt.Errorf("the encoding %s is not known, only UTF-8", charset)
	}
	depth, roots := 0, 0
	for {
		t, err := d.RawToken()
		line, column := d.InputPos()
		bad := func(text string) error { return fmt.Errorf("line %d, column %d: %s", line, column, text) }
		if err == io.EOF {
			break
		}
		if err != nil {
			var s *xml.SyntaxError
			if errors.As(err, &s) {
				return bad(s.Msg)
			}
			return bad(err.Error())
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				roots++
			}
			if roots > 1 {
				return bad("a second root element")
			}
			seen := map[xml.Name]bool{}
			for _, a := range t.Attr {
				if seen[a.Name] {
					return bad("attribute " + a.Name.Local + " twice")
				}
				seen[a.Name] = true
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && len(bytes.Trim(t, " \t\r\n\ufeff")) > 0 {
				return bad("text outside of the root element")
			}
		}
	}
	if roots == 0 {
		return errors.New("there is no element")
	}
	return nest(all)
}

// nest returns an error if the elements are not closed in order. RawToken does not check that.
func nest(all []byte) error {
	d := xml.NewDecoder(bytes.NewReader(all))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			line, column := d.InputPos()
			var s *xml.SyntaxError
			if errors.As(err, &s) {
				return fmt.Errorf("line %d, column %d: %s", line, column, s.Msg)
			}
			return err
		}
	}
}

// indentXML writes each element on a line of its own, except inside an element that has text.
func indentXML(w io.Writer, all []byte) error {
	d := xml.NewDecoder(bytes.NewReader(all))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var b bytes.Buffer
	depth, mixed, open := 0, 0, false
	last := int64(0)
	line := func() {
		if b.Len() > 0 && mixed == 0 {
			b.WriteString("\n" + strings.Repeat("  ", depth))
		}
	}
	for {
		t, err := d.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		raw := all[last:d.InputOffset()]
		last = d.InputOffset()
		switch t := t.(type) {
		case xml.StartElement:
			line()
			b.Write(raw)
			depth++
			open = true
			if mixed > 0 {
				mixed++
			}
			continue
		case xml.EndElement:
			depth--
			if len(raw) == 0 { // <a/> has an empty end tag
				if mixed > 0 {
					mixed--
				}
				open = false
				continue
			}
			if !open {
				line()
			}
			if mixed > 0 {
				mixed--
			}
			b.Write(raw)
		case xml.CharData:
			if len(bytes.TrimSpace(t)) == 0 && mixed == 0 {
				continue
			}
			if mixed == 0 {
				mixed = 1
			}
			b.Write(raw)
			continue
		default:
			line()
			b.Write(raw)
		}
		open = false
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}
