//go:build js && wasm

package main

import (
	"fmt"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/wasm_exec/headers"
)

// shield shows where this page can reach, what was stopped, and what holds it.
func (a *app) shield() {
	reach := element("reach")
	reach.Call("append", create("li", "This page's own server: "+js.Global().Get("location").Get("origin").String()))
	if a.kept.Origin != "" {
		reach.Call("append", create("li", "The provider you chose: "+a.kept.Origin))
	}
	reach.Call("append", create("li", "Nothing else. The model's code and what it shows reach nothing at all."))
	trying := false // what we try ourselves is no news
	on(document(), "securitypolicyviolation", func(e js.Value) {
		if trying {
			return
		}
		stopped(fmt.Sprintf("%s: %s", e.Get("effectiveDirective").String(), e.Get("blockedURI").String()))
	})
	// Looking tries what should be stopped, which the browser's console tells: not before it is asked for.
	on(element("tab-shield"), "click", func(js.Value) {
		if element("holds").Get("childElementCount").Int() > 0 {
			return
		}
		trying = true
		list, err := headers.Check(a.ctx)
		time.AfterFunc(time.Second, func() { trying = false })
		if failed(err) {
			return
		}
		for _, f := range list {
			text := "holds"
			if !f.Holds {
				text = "does not hold: " + f.Cost
			}
			item := create("li", "")
			item.Call("append", create("b", f.Name), " "+text+" ("+string(f.How)+")")
			element("holds").Call("append", item)
		}
	})
}

func stopped(text string) {
	hide("calm", true)
	element("stopped").Call("prepend", create("li", text))
}

// stops shows what the box stopped since it was last asked.
func (a *app) stops(box *sandbox.Box) {
	list, _ := box.Violations()
	for _, v := range list {
		stopped(fmt.Sprintf("%s: %s %s", v.Layer, v.Tool, v.Detail))
	}
	box.ClearViolations()
}
