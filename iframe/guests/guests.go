package guests

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/asset"
)

// Draw returns the function for [markdown.Options.Draw]. dir is the address of the folder with the libraries, relative to
// the page: "guests/" for a page of wasm_exec build. The enclave is made when a library is first needed, and ends with
// ctx. Outside a browser there are no drawings.
func Draw(ctx context.Context, dir string) func(context.Context, markdown.Source) (markdown.Drawing, error) {
	if dir != "" && !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	g := &guests{ctx: ctx, dir: dir, run: runner(ctx), scripts: map[string]string{}, waiting: map[string][]*job{}}
	return g.draw
}

// The languages of highlight.js with their other names. The first ones are in one file, each of the others has a file of its own.
const (
	core = "bash sh zsh|c h|cpp cc c++ h++ hpp hh hxx cxx|csharp cs c#|css|diff patch|go golang|graphql gql|ini toml|java jsp|javascript js jsx mjs cjs|json jsonc json5|" +
		"kotlin kt kts|less|lua pluto|makefile mk mak make|markdown md|objectivec mm objc obj-c objective-c|perl pl pm|php|python py gyp ipython|r|ruby rb|rust rs|scss|" +
		"shell console shellsession|sql|swift|typescript ts tsx mts cts|vbnet vb|wasm|xml html xhtml svg plist|yaml yml"
	more = "awk|clojure clj edn|cmake|dart|dockerfile docker|elixir ex exs|elm|erlang erl|fsharp fs f#|groovy|haskell hs|http https|julia jl|latex tex|lisp|matlab|" +
		"nginx nginxconf|nix nixos|ocaml ml|powershell pwsh ps ps1|properties|protobuf proto|scala|verilog v sv svh|vim|x86asm asm"
)

// files returns the files that draw a source, "" if nothing does, and the name of its language there.
func files(lang string) (names, as string) {
	if lang == "math" {
		return "temml.min.js", lang
	}
	if lang == "mermaid" {
		return "mermaid.min.js", lang
	}
	if name := language(core, lang); name != "" {
		return "highlight.min.js", name
	}
	if name := language(more, lang); name != "" {
		return "highlight.min.js languages/" + name + ".min.js", name
	}
	return "", ""
}

// language returns the first name of the language in list that has this name, or "".
func language(list, name string) string {
	if name == "" || strings.ContainsAny(name, " |") {
		return ""
	}
	for names := range strings.SplitSeq(list, "|") {
		if strings.Contains(" "+names+" ", " "+name+" ") {
			first, _, _ := strings.Cut(names, " ")
			return first
		}
	}
	return ""
}

// colours, formulas and diagrams are the code behind the libraries. They return the drawings of args, in order.
//
//go:embed colours.js
var colours string

//go:embed formulas.js
var formulas string

//go:embed diagrams.js
var diagrams string

// behind returns the code behind files.
func behind(names string) string {
	switch names {
	case "temml.min.js":
		return formulas
	case "mermaid.min.js":
		return diagrams
	}
	return colours
}

// maxScript is the size of a library, in bytes.
const maxScript = 512 << 10

// maxBatch is the number of sources that are drawn in one run.
const maxBatch = 32

// guests has the libraries and the sources that wait for them.
type guests struct {
	ctx context.Context
	dir string
	run func(ctx context.Context, code string, args any) (any, error)

	mu      sync.Mutex
	scripts map[string]string // by names of files
	waiting map[string][]*job // by names of files
	working bool
}

type job struct {
	source markdown.Source
	as     string
	result chan any // an error, or the data of the library
}

// draw is Options.Draw.
func (g *guests) draw(ctx context.Context, s markdown.Source) (markdown.Drawing, error) {
	names, as := files(s.Lang)
	if names == "" {
		return markdown.Drawing{}, fmt.Errorf("guests: nothing draws %.40q", s.Lang)
	}
	j := &job{s, as, make(chan any, 1)}
	g.mu.Lock()
	g.waiting[names] = append(g.waiting[names], j)
	if !g.working {
		g.working = true
		go g.work()
	}
	g.mu.Unlock()
	select {
	case data := <-j.result:
		if err, ok := data.(error); ok {
			return markdown.Drawing{}, err
		}
		return drawing(s, data)
	case <-ctx.Done():
		return markdown.Drawing{}, ctx.Err()
	case <-g.ctx.Done():
		return markdown.Drawing{}, g.ctx.Err()
	}
}

// work draws what waits, as many sources at once as have the same library.
func (g *guests) work() {
	for {
		g.mu.Lock()
		var names string
		var jobs []*job
		for n, list := range g.waiting {
			names, jobs = n, list[:min(len(list), maxBatch)]
			if g.waiting[n] = list[len(jobs):]; len(g.waiting[n]) == 0 {
				delete(g.waiting, n)
			}
			break
		}
		if g.working = len(jobs) > 0; !g.working {
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		g.make(names, jobs)
	}
}

// make draws jobs in one run. If it fails, because one of them is too much for the library, each has a run of its own.
func (g *guests) make(names string, jobs []*job) {
	script, err := g.script(names)
	var list []any
	if err == nil {
		args := make([]any, len(jobs))
		for i, j := range jobs {
			args[i] = map[string]any{"lang": j.as, "text": j.source.Text, "display": j.source.Display}
		}
		var data any
		data, err = g.run(g.ctx, script, args)
		if got, ok := data.([]any); err == nil && (!ok || len(got) != len(jobs)) {
			err = errors.New("guests: the library did not return a drawing for each source")
		} else {
			list = got
		}
	}
	switch {
	case err == nil:
		for i, j := range jobs {
			j.result <- list[i]
		}
	case script != "" && len(jobs) > 1 && g.ctx.Err() == nil:
		for _, j := range jobs {
			g.make(names, []*job{j})
		}
	default:
		for _, j := range jobs {
			j.result <- err
		}
	}
}

// fitting changes what an enclave refuses. The two uses of __proto__ in Temml give its class of errors a parent, which
// nothing here asks for. The library for diagrams defines properties where assigning them does, and asks for the name
// Function, whose prototype it needs.
var fitting = strings.NewReplacer("a.__proto__=e.prototype,", "", "e.prototype.__proto__=Error.prototype;", ";",
	"var beautifulMermaid=(", "const Function=(()=>{}).constructor;var beautifulMermaid=(",
	"var It=Object.defineProperty;var In=Object.getOwnPropertyDescriptor;", "var It=(o,k,d)=>(o[k]=d.get?d.get():d.value,o),In=()=>undefined;")

// script returns the code that draws with some files.
func (g *guests) script(names string) (string, error) {
	g.mu.Lock()
	s := g.scripts[names]
	g.mu.Unlock()
	if s != "" {
		return s, nil
	}
	var b strings.Builder
	for name := range strings.SplitSeq(names, " ") {
		text, err := asset.Text(g.ctx, g.dir+name, maxScript)
		if err != nil {
			return "", fmt.Errorf("guests: %w: wasm_exec build copies it into guests/ of the page", err)
		}
		b.WriteString(fitting.Replace(text) + "\n;\n")
	}
	b.WriteString(behind(names))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.scripts[names] = b.String()
	return b.String(), nil
}

// drawing returns the data of a library as a drawing. Colours come as a list: a class, a text, a class, a text.
func drawing(s markdown.Source, data any) (d markdown.Drawing, err error) {
	switch data := data.(type) {
	case string:
		switch {
		case data == "":
		case s.Lang == "math":
			return markdown.Drawing{MathML: data}, nil
		case s.Lang == "mermaid":
			return markdown.Drawing{SVG: data}, nil
		}
	case []any:
		for i := 0; i+1 < len(data); i += 2 {
			class, ok := data[i].(string)
			text, ok2 := data[i+1].(string)
			if !ok || !ok2 {
				return markdown.Drawing{}, errors.New("guests: a piece of code is no text")
			}
			d.Spans = append(d.Spans, markdown.Span{Class: class, Text: text})
		}
		if len(d.Spans) > 0 {
			return d, nil
		}
	}
	return markdown.Drawing{}, errors.New("guests: the library could not draw it")
}
