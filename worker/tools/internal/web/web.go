// Package web holds the commands for web pages, shell programs and Markdown.
package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/html"
	"github.com/tdewolff/minify/v2/js"
	"github.com/tdewolff/minify/v2/json"
	"github.com/tdewolff/minify/v2/svg"
	"github.com/tdewolff/minify/v2/xml"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Commands returns the commands of this package.
func Commands() tool.Set {
	const c = "web"
	return tool.Set{
		{Name: "minify", Usage: "[-t TYPE] [-w] [FILE]...", Summary: "make HTML, CSS, JavaScript, JSON, SVG and XML smaller", Category: c, Files: "readwrite", Run: minified,
			Help: "  -t TYPE  html, css, js, json, svg or xml (default: by the name)    -w  change the files themselves"},
		{Name: "shfmt", Usage: "[-i N] [-bn] [-ci] [-sr] [-fn] [-mn] [-s] [-ln LANG] [-l] [-w] [FILE]...", Summary: "format shell programs", Category: c, Files: "readwrite", Run: shfmt,
			Help: "  -i N  N spaces (default 0: tabs)    -bn  && and | begin lines    -ci  cases indented    -sr  a blank after redirects    -fn  { on its own line\n  -mn  minify    -s  simplify    -ln LANG  bash, posix, mksh, zsh    -l  name the files that would change    -w  change them"},
		{Name: "markdown", Usage: "[FILE]...", Summary: "turn Markdown into HTML that has been sanitised", Category: c, Files: "read", Run: md,
			Help: "  Links keep their target in data-href and pictures theirs in data-image; nothing in the result loads or runs."},
	}
}

func minified(e *tool.Env) error {
	o, err := e.Options("t:w", "type=t write=w")
	if err != nil {
		return err
	}
	m := minify.New()
	m.Add("css", &css.Minifier{})
	m.Add("text/css", &css.Minifier{})
	m.Add("html", &html.Minifier{KeepDocumentTags: true, KeepEndTags: true})
	m.Add("js", &js.Minifier{})
	for _, t := range []string{"application/javascript", "text/javascript", "module"} {
		m.Add(t, &js.Minifier{})
	}
	m.Add("json", &json.Minifier{KeepNumbers: true})
	m.Add("application/json", &json.Minifier{KeepNumbers: true})
	m.Add("application/ld+json", &json.Minifier{KeepNumbers: true})
	m.Add("svg", &svg.Minifier{})
	m.Add("image/svg+xml", &svg.Minifier{})
	m.Add("xml", &xml.Minifier{})
	m.Add("text/xml", &xml.Minifier{})
	return e.Each(o.Args, func(name string, r io.Reader) error {
		kind := o.Value('t')
		if kind == "" {
			kind = strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
		}
		switch kind {
		case "htm", "xhtml":
			kind = "html"
		case "mjs", "cjs", "javascript":
			kind = "js"
		}
		var b bytes.Buffer
		err := m.Minify(kind, &b, r)
		if errors.Is(err, minify.ErrNotExist) {
			return tool.Errorf("%s: say with -t what it is: html, css, js, json, svg or xml", name)
		}
		if err != nil {
			return fmt.Errorf("%s: %s", name, strings.TrimSpace(err.Error()))
		}
		if o.Has('w') && name != "-" {
			return e.Replace(name, b.Bytes())
		}
		_, err = e.Stdout.Write(b.Bytes())
		return err
	})
}

func shfmt(e *tool.Env) error {
	short := map[string]string{"-bn": "--bn", "-ci": "--ci", "-sr": "--sr", "-fn": "--fn", "-mn": "--mn", "-kp": "--kp", "-ln": "--ln"}
	for i, a := range e.Args {
		if long, ok := short[a]; ok {
			e.Args[i] = long
		}
	}
	o, err := e.Options("i:slwd1234567:", "indent=i simplify=s list=l write=w diff=d bn=1 ci=2 sr=3 fn=4 mn=5 kp=6 ln=7 language-dialect=7")
	if err != nil {
		return err
	}
	indent, err := e.Int(o, 'i', 0)
	if err != nil {
		return err
	}
	lang := syntax.LangBash
	if o.Has('7') {
		if err := lang.Set(o.Value('7')); err != nil {
			return err
		}
	}
	parser := syntax.NewParser(syntax.KeepComments(!o.Has('5')), syntax.Variant(lang))
	printer := syntax.NewPrinter(syntax.Indent(uint(min(indent, 64))), syntax.BinaryNextLine(o.Has('1')), syntax.SwitchCaseIndent(o.Has('2')),
		syntax.SpaceRedirects(o.Has('3')), syntax.FunctionNextLine(o.Has('4')), syntax.Minify(o.Has('5')))
	return e.Each(o.Args, func(name string, r io.Reader) error {
		src, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		f, err := parser.Parse(bytes.NewReader(src), name)
		if err != nil {
			return err
		}
		if o.Has('s') || o.Has('5') {
			syntax.Simplify(f)
		}
		var b bytes.Buffer
		if err := printer.Print(&b, f); err != nil {
			return err
		}
		same := bytes.Equal(src, b.Bytes())
		if o.Has('l') && !same {
			fmt.Fprintln(e.Stdout, name)
		}
		if o.Has('w') && name != "-" {
			if same {
				return nil
			}
			return e.Replace(name, b.Bytes())
		}
		if !o.Has('l') {
			_, err = e.Stdout.Write(b.Bytes())
		}
		return err
	})
}

func md(e *tool.Env) error {
	o, err := e.Options("", "")
	if err != nil {
		return err
	}
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		return err
	}
	return e.Each(o.Args, func(_ string, in io.Reader) error {
		src, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		html, _, err := r.Render(src)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(e.Stdout, strings.TrimRight(html.String(), "\n"))
		return err
	})
}
