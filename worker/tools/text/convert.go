package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/benhoyt/goawk/interp"
	"github.com/benhoyt/goawk/parser"
	"github.com/pmezard/go-difflib/difflib"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/html"
	"github.com/tdewolff/minify/v2/js"
	mjson "github.com/tdewolff/minify/v2/json"
	"github.com/tdewolff/minify/v2/svg"
	mxml "github.com/tdewolff/minify/v2/xml"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"mvdan.cc/sh/v3/syntax"
)

// awk [-F separator] program [file…]
func awk(args []string, in io.Reader, out io.Writer) error {
	var vars []string
	if len(args) > 1 && args[0] == "-F" {
		vars, args = []string{"FS", args[1]}, args[2:]
	}
	if len(args) == 0 {
		return errors.New("usage: awk [-F separator] program [file...]")
	}
	prog, err := parser.ParseProgram([]byte(args[0]), nil)
	if err != nil {
		return err
	}
	status, err := interp.ExecProgram(prog, &interp.Config{Stdin: in, Output: out, Error: os.Stderr, Args: args[1:], Vars: vars, NoExec: true, NoFileWrites: true})
	if err == nil && status != 0 {
		os.Exit(status)
	}
	return err
}

func shfmt(args []string, in io.Reader, out io.Writer) error {
	text, err := input(args, in)
	if err != nil {
		return err
	}
	f, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return err
	}
	return syntax.NewPrinter().Print(out, f)
}

// minify css|html|js|json|svg|xml [file…]
func minifyText(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("usage: minify css|html|js|json|svg|xml [file...]")
	}
	m := minify.New()
	m.AddFunc("css", css.Minify)
	m.AddFunc("html", html.Minify)
	m.AddFunc("js", js.Minify)
	m.AddFunc("json", mjson.Minify)
	m.AddFunc("svg", svg.Minify)
	m.AddFunc("xml", mxml.Minify)
	text, err := input(args[1:], in)
	if err != nil {
		return err
	}
	return m.Minify(args[0], out, strings.NewReader(text))
}

func diff(args []string, _ io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: diff file file")
	}
	var text [2]string
	for i, name := range args {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text[i] = string(b)
	}
	d := difflib.UnifiedDiff{A: difflib.SplitLines(text[0]), B: difflib.SplitLines(text[1]), FromFile: args[0], ToFile: args[1], Context: 3}
	s, err := difflib.GetUnifiedDiffString(d)
	if err != nil || s == "" {
		return err
	}
	if _, err := io.WriteString(out, s); err != nil {
		return err
	}
	os.Exit(1) // as diff does for files that differ
	return nil
}

func indented(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func toml2json(args []string, in io.Reader, out io.Writer) error {
	text, err := input(args, in)
	if err != nil {
		return err
	}
	var v map[string]any
	if _, err := toml.Decode(text, &v); err != nil {
		return err
	}
	return indented(out, v)
}

func markdown(args []string, in io.Reader, out io.Writer) error {
	text, err := input(args, in)
	if err != nil {
		return err
	}
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), out)
}

// csv prints a table with a first line of names as JSON.
func csvToJSON(args []string, in io.Reader, out io.Writer) error {
	text, err := input(args, in)
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return err
	}
	list := make([]map[string]string, 0, len(rows)-1)
	for _, r := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = r[i]
		}
		list = append(list, m)
	}
	return indented(out, list)
}

// xmllint says whether a text is well-formed.
func xmllint(args []string, in io.Reader, _ io.Writer) error {
	text, err := input(args, in)
	if err != nil {
		return err
	}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// uuid prints a random one (RFC 9562, version 4).
func uuid(_ []string, _ io.Reader, out io.Writer) error {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	_, err := fmt.Fprintf(out, "%x-%x-%x-%x-%x\n", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	return err
}

// jwt prints the parts of a token. It checks no signature, and says so.
func jwt(args []string, in io.Reader, out io.Writer) error {
	text, err := input(args, in)
	if err != nil {
		return err
	}
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) != 3 {
		return errors.New("no token: want three parts with dots between them")
	}
	v := map[string]any{"signature": "not checked"}
	for i, name := range []string{"header", "payload"} {
		b, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		var part any
		if err := d.Decode(&part); err != nil {
			return err
		}
		v[name] = part
	}
	return indented(out, v)
}
