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
	for _, id := range []string{"files", "palette", "presets", "stages", "packages"} {
		element(id).Call("replaceChildren") // after an exit the program is started again in the same page
	}
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
		button(element("presets"), p.name, "", func() {
			element("line").Set("value", p.line)
			a.start()
		})
	}
	enable("ready", true)
	status("Ready")
	select {}
}

func (a *app) wire() {
	on(element("form"), "submit", a.start)
	on(element("stop"), "click", func() {
		if a.stop != nil {
			a.stop()
		}
	})
	on(element("save"), "click", func() { download("output", a.output) })
	on(element("pick"), "change", func() { say(errText(a.addPicked())) })
	on(element("zip"), "change", func() { say(errText(a.install())) })
	on(element("search"), "input", a.showTools)
	on(element("notices"), "toggle", func() { say(errText(a.showNotices())) })
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
		d, err := zone.Next(a.ctx)
		if err == nil {
			err = fsaccess.Copy(a.ctx, a.files, ".", d.Folder, ".", fsaccess.CopyOptions{})
		}
		say(errText(err))
		a.showFiles()
	}
}

// addPicked copies the chosen files into memory. The tools change only the copy.
func (a *app) addPicked() error {
	var errs []error
	for _, f := range chosen("pick") {
		data, err := content(a.ctx, f)
		if err == nil {
			err = a.files.WriteFile(f.Get("name").String(), data, 0o644)
		}
		errs = append(errs, err)
	}
	a.showFiles()
	return errors.Join(errs...)
}

func (a *app) showFiles() {
	list := element("files")
	list.Call("replaceChildren")
	_ = fs.WalkDir(a.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		row := create("li", "")
		b := button(row, name, "", func() { insert(quoteWord(name)) })
		b.Set("title", "put into the pipe")
		button(row, size(info.Size()), "quiet", func() {
			if data, err := a.files.ReadFile(name); err == nil {
				download(name, data)
			}
		}).Call("setAttribute", "aria-label", "Save "+name+", "+size(info.Size()))
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

var document = js.Global().Get("document")
