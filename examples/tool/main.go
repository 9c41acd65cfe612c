//go:build js && wasm

// Tool runs WebAssembly tools on files, each in a worker of its own behind two frames. It shows
// pipes, progress and statistics, and it can end a tool that does not end by itself.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/worker"
)

//go:embed sample
var sample embed.FS

func main() {
	err := run(context.Background()) // run returns only if it fails
	fmt.Fprintln(os.Stderr, err)
	say("This page could not start: " + err.Error())
	os.Exit(1)
}

// app is the page's state. Callbacks hand their work to goroutines, so they never block.
type app struct {
	ctx      context.Context
	pool     *worker.Pool
	files    *fsaccess.Folder // the files of the tools, in memory
	tools    *catalogue
	packages *worker.Packages
	stop     context.CancelFunc // ends the current run
	output   []byte

	ofFiles, ofPalette, ofPackages dom.Listeners // of lists, released before a list is rebuilt
}

// presets are example pipes. The last one never ends by itself.
var presets = []struct{ name, line string }{
	{"Which errors, how often", "grep ERROR server.log | cut -d ' ' -f 4- | sort | uniq -c | sort -rn"},
	{"Hash of a picture", "sha256sum chart.png"},
	{"What sold best", "csv -o sold -r -n 3 -t markdown menu.csv"},
	{"TOML to YAML", "toml2json config.toml | yq -o yaml ."},
	{"Ask a database", `sqlite3 -markdown :memory: "select 6 * 7 as answer, sqlite_version() as version"`},
	{"Pack and list", "tar -cz server.log notes.md | tar -tvz"},
	{"A runaway", "awk 'BEGIN { while (1) n++ }'"},
}

func run(ctx context.Context) (err error) {
	a := &app{ctx: ctx, files: fsaccess.NewMemory(fsaccess.MemoryOptions{})}
	dom.Empty("files", "palette", "presets", "stages", "packages") // after an exit the program is started again in the same page
	from, err := fs.Sub(sample, "sample")
	if err != nil {
		return err
	}
	if err := fsaccess.Copy(ctx, a.files, ".", fsaccess.FromFS(from), ".", fsaccess.CopyOptions{}); err != nil {
		return err
	}
	if a.tools, err = fetchCatalogue(ctx); err != nil {
		return err
	}
	if err := a.openPackages(); err != nil {
		return err
	}
	if a.pool, err = worker.NewPool(ctx, worker.Options{Spare: 2}); err != nil {
		return err
	}
	a.wire()
	a.showFiles()
	a.showTools()
	for _, p := range presets {
		new(dom.Listeners).Button(dom.Element("presets"), p.name, "", func() {
			dom.SetValue("line", p.line)
			a.start()
		})
	}
	dom.Enable("ready", true)
	dom.Status("Ready")
	select {}
}

func (a *app) wire() {
	dom.On(dom.Element("form"), "submit", func(js.Value) { a.start() })
	dom.OnClick("stop", func() {
		if a.stop != nil {
			a.stop()
		}
	})
	dom.OnClick("save", func() { dom.Download("output", a.output) })
	dom.On(dom.Element("pick"), "change", func(js.Value) { say(errText(a.addPicked())) })
	dom.On(dom.Element("zip"), "change", func(js.Value) { say(errText(a.install())) })
	dom.On(dom.Element("search"), "input", func(js.Value) { a.showTools() })
	dom.On(dom.Element("notices"), "toggle", func(js.Value) { say(errText(a.showNotices())) })
	go a.drops()
}

// drops copies each folder that is dropped on the page into memory.
func (a *app) drops() {
	zone, err := fsaccess.NewDropZone("body")
	if err != nil {
		say(err.Error())
		return
	}
	for a.ctx.Err() == nil {
		dir, err := zone.Next(a.ctx)
		if err == nil {
			err = fsaccess.Copy(a.ctx, a.files, ".", dir, ".", fsaccess.CopyOptions{})
		}
		say(errText(err))
		a.showFiles()
	}
}

// addPicked copies the chosen files into memory. The tools change only the copy.
func (a *app) addPicked() error {
	var errs []error
	for _, f := range dom.Chosen("pick") {
		data, err := dom.Bytes(a.ctx, f)
		if err == nil {
			err = a.files.WriteFile(f.Get("name").String(), data, 0o644)
		}
		errs = append(errs, err)
	}
	a.showFiles()
	return errors.Join(errs...)
}

func (a *app) showFiles() {
	list := dom.Element("files")
	list.Call("replaceChildren")
	a.ofFiles.Release()
	_ = fs.WalkDir(a.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		row := dom.Create("li", "")
		b := a.ofFiles.Button(row, name, "", func() { insert(quoteWord(name)) })
		b.Set("title", "put into the pipe")
		a.ofFiles.Button(row, dom.Size(info.Size()), "quiet", func() {
			if data, err := a.files.ReadFile(name); err == nil {
				dom.Download(name, data)
			}
		}).Call("setAttribute", "aria-label", "Save "+name+", "+dom.Size(info.Size()))
		list.Call("append", row)
		return nil
	})
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
