//go:build js && wasm

// Run lets the user run JavaScript as a model would write it, with tools, limits and a dozen
// attacks, and shows the layer that stopped each attack.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/examples/run/attacks"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
)

func main() {
	err := run(context.Background()) // run returns only if it fails
	fmt.Fprintln(os.Stderr, err)
	dom.Status("This page could not start: " + err.Error())
	os.Exit(1)
}

// app is the page's state. Callbacks of the browser start goroutines for their work, so they never
// block.
type app struct {
	ctx  context.Context
	stop context.CancelFunc // ends the current run
	pool *iframe.EnclavePool
	kind string // the level and the tools of pool
}

func run(ctx context.Context) error {
	a := &app{ctx: ctx}
	// After an exit the program is started again in the same page.
	dom.Empty("tools", "attacks")
	for _, tool := range notebook() {
		checkbox(tool.ID, tool.Description)
	}
	for _, attack := range attacks.All() {
		button := dom.Button(attack.Name, "")
		button.Set("id", attack.ID())
		dom.On(button, "click", func(js.Value) {
			dom.SetValue("code", attack.Code)
			a.run(attack.Layer)
		})
		item := dom.Create("li", "")
		item.Call("append", button)
		dom.Element("attacks").Call("append", item)
	}
	dom.On(dom.Element("form"), "submit", func(js.Value) { a.run("") })
	dom.OnClick("stop", func() {
		if a.stop != nil {
			a.stop()
		}
	})
	if err := a.prepare(); err != nil {
		return err
	}
	dom.Enable("ready", true)
	dom.Status("Ready")
	select {}
}

// prepare makes a pool for the chosen level and tools, unless there is one already. It closes the
// old pool.
func (a *app) prepare() error {
	level, err := protocol.ParseLevel(dom.Value("level"))
	if err != nil {
		return err
	}
	tools := slices.DeleteFunc(notebook(), func(t protocol.Tool) bool { return !dom.Element(t.ID).Get("checked").Bool() })
	kind := level.String()
	for _, t := range tools {
		kind += " " + t.ID
	}
	if kind == a.kind {
		return nil
	}
	set, err := protocol.NewToolset(tools...)
	if err != nil {
		return err
	}
	if a.pool != nil {
		_ = a.pool.Close()
		a.kind = ""
	}
	a.pool, err = iframe.NewEnclavePool(a.ctx, iframe.PoolOptions{Max: 1, EnclaveOptions: iframe.EnclaveOptions{Level: level, Tools: set}})
	if err == nil {
		a.kind = kind
	}
	return err
}

// run runs the code in the editor. For an attack, layer is the text about the layer that should
// stop it.
func (a *app) run(layer string) {
	if a.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(a.ctx)
	a.stop = cancel
	defer func() { cancel(); a.stop = nil }()
	dom.Enable("ready", false)
	dom.Enable("stop", true)
	clearRun()
	dom.Status("Running")
	defer dom.Enable("stop", false)
	defer dom.Enable("ready", true)
	if err := a.prepare(); err != nil {
		dom.Status(err.Error())
		return
	}
	start := time.Now()
	res, err := a.pool.Run(ctx, dom.Value("code"), iframe.RunOptions{OnConsole: func(row protocol.ConsoleRow) {
		line(string(row.Level), row.Text(shown))
	}})
	took := time.Since(start)
	if res == nil {
		dom.Status(err.Error())
		return
	}
	outcome(res, layer)
	timeline(res.Traces)
	dom.Status(fmt.Sprintf("%.0f ms; tool calls: %d; console rows: %d", float64(took)/1e6, res.Stats.ToolCalls, res.Stats.ConsoleCalls))
}
