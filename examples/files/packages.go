//go:build js && wasm

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/worker"
)

// wants are the texts for the user about the files that a tool may use.
var wants = map[worker.FileAccess]string{worker.FilesNone: "no files", worker.FilesRead: "read the files it is given", worker.FilesWrite: "add files", worker.FilesReadWrite: "read and change the files it is given"}

// toolsPanel sets up the list of tools and the buttons for packages.
func (a *app) toolsPanel() {
	on(element("install"), "click", func(js.Value) { element("install-file").Call("click") })
	on(element("install-file"), "change", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, f := range files("install-file") {
			data, err := bytesOf(a.ctx, f)
			if failed(err) {
				return
			}
			pkg, err := a.tools.packages.Install(a.ctx, data, "")
			if failed(err) || failed(a.showPackages()) {
				return
			}
			toast(fmt.Sprintf("Installed %s %s. It may touch no file, and you are asked before it runs.", pkg.Name, pkg.Version))
		}
	})
	on(element("notices"), "click", func(js.Value) {
		text, err := fetch(a.ctx, "tools/NOTICES.txt")
		if failed(err) {
			return
		}
		pre := create("pre", string(text))
		pre.Set("tabIndex", 0)
		pre.Set("className", "notices")
		pre.Call("setAttribute", "aria-label", "Licences")
		ask(asking{title: "What the bundled tools are made of", body: []js.Value{pre}, answers: []string{"Close"}})
	})
	for _, b := range a.tools.bundles {
		names := []string{}
		licences := []string{}
		for _, t := range b.Tools {
			names = append(names, t.Name)
			if !slices.Contains(licences, t.Licence) {
				licences = append(licences, t.Licence)
			}
		}
		row := create("li", "")
		row.Call("append", create("b", b.Name), create("small", fmt.Sprintf(" %s, fetched when it is first used · %s", size(b.Size), strings.Join(licences, ", "))), create("p", strings.Join(names, " ")))
		element("bundles").Call("append", row)
	}
	hide("no-tools", len(a.tools.bundles) > 0)
	hide("notices", len(a.tools.bundles) == 0)
}

// busy returns an error while a conversation is at work.
func (a *app) busy() error {
	for _, t := range a.talks {
		if t.cancel != nil {
			return fmt.Errorf("a conversation is at work: stop it first, or wait until it is done")
		}
	}
	return nil
}

// showPackages lists the installed packages, with the rights that each asks for and has.
func (a *app) showPackages() error {
	list, err := a.tools.packages.List(a.ctx)
	box := element("packages")
	box.Call("replaceChildren")
	a.ofPackages.release()
	for _, pkg := range list {
		row := create("li", "")
		row.Call("append", create("b", pkg.Name), create("small", fmt.Sprintf(" %s by %s · %s", pkg.Version, cmp.Or(pkg.Author, "nobody named"), cmp.Or(pkg.Licence, "no licence named"))),
			create("p", cmp.Or(pkg.Description, "It says nothing about itself.")), create("small", "SHA-256 "+pkg.SHA256[:16]+"…"))
		grant := func(g worker.PackageGrant) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if _, err := a.tools.packages.Grant(a.ctx, pkg.Name, g); !failed(err) && !failed(a.showPackages()) {
				status(pkg.Name + ": kept.")
			}
		}
		row.Call("append", a.ofPackages.selection("when-"+pkg.Name, pkg.Name+" runs", string(cmp.Or(pkg.Granted.Decision, worker.PackageAsk)),
			[][2]string{{"ask", "after a question each conversation"}, {"always", "without a question, in scripts too"}, {"never", "never"}},
			func(v string) {
				grant(worker.PackageGrant{Files: pkg.Granted.Files, Decision: worker.PackageDecision(v)})
			}))
		if want := pkg.Execution.FileAccess; want != worker.FilesNone && want != "" {
			row.Call("append", a.ofPackages.selection("files-"+pkg.Name, "and may", string(cmp.Or(pkg.Granted.Files, worker.FilesNone)),
				[][2]string{{string(worker.FilesNone), "touch " + wants[worker.FilesNone]}, {string(want), wants[want]}},
				func(v string) {
					grant(worker.PackageGrant{Files: worker.FileAccess(v), Decision: pkg.Granted.Decision})
				}))
		}
		bar := create("div", "")
		bar.Set("className", "bar")
		a.ofPackages.button(bar, "Licence", "small", func() {
			text := "The package brings no text of a licence."
			for _, name := range []string{"LICENSE", "LICENCE", "LICENSE.txt", "LICENCE.txt", "COPYING"} {
				if data, err := pkg.File(name); err == nil {
					text = strings.ToValidUTF8(string(data), "\uFFFD")
				}
			}
			pre := create("pre", text)
			pre.Set("tabIndex", 0)
			pre.Set("className", "notices")
			ask(asking{title: "Licence of " + pkg.Name, body: []js.Value{pre}, answers: []string{"Close"}})
		})
		a.ofPackages.button(bar, "Remove", "stop small", func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			if failed(a.tools.packages.Remove(a.ctx, pkg.Name)) || failed(a.showPackages()) {
				return
			}
			toast("Removed " + pkg.Name + ".")
		}).Call("setAttribute", "aria-label", "Remove "+pkg.Name)
		row.Call("append", bar)
		box.Call("append", row)
	}
	hide("no-packages", len(list) > 0)
	return err
}

// selection adds a labelled list of options to a new row, and returns the row. Each option is a
// value and its text.
func (l *listeners) selection(id, text, now string, options [][2]string, chosen func(string)) js.Value {
	row, label, menu := create("div", ""), create("label", text), create("select", "")
	row.Set("className", "bar")
	menu.Set("id", id)
	label.Set("htmlFor", id)
	label.Set("className", "small")
	for _, o := range options {
		el := create("option", o[1])
		el.Set("value", o[0])
		el.Set("selected", o[0] == now)
		menu.Call("append", el)
	}
	l.on(menu, "change", func(js.Value) { chosen(menu.Get("value").String()) })
	row.Call("append", label, menu)
	return row
}
