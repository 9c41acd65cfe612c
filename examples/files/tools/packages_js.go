package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/worker"
)

// wants are the texts for the user about the files that a tool may use.
var wants = map[worker.FileAccess]string{worker.FilesNone: "no files", worker.FilesRead: "read the files it is given", worker.FilesWrite: "add files", worker.FilesReadWrite: "read and change the files it is given"}

// packages is the panel of the tools: the built ones, and the packages that the user installed.
type packages struct {
	tools *Toolbox
	lock  sync.Locker   // held during one action of the user's
	of    dom.Listeners // of the list, released before it is rebuilt
}

// Listen shows the list of tools, and sets up the buttons for packages. It locks lock during its own
// actions.
func (b *Toolbox) Listen(ctx context.Context, lock sync.Locker) {
	p := &packages{tools: b, lock: lock}
	dom.Failed(p.show(ctx)) // a damaged package does not stop the page

	dom.OnClick("install", func() { dom.Element("install-file").Call("click") })
	dom.On(dom.Element("install-file"), "change", func(js.Value) {
		p.lock.Lock()
		defer p.lock.Unlock()
		for _, f := range dom.Chosen("install-file") {
			data, err := dom.Bytes(ctx, f)
			if dom.Failed(err) {
				return
			}
			pkg, err := p.tools.packages.Install(ctx, data, "")
			if dom.Failed(err) || dom.Failed(p.show(ctx)) {
				return
			}
			dialog.Toast(fmt.Sprintf("Installed %s %s. It may touch no file, and you are asked before it runs.", pkg.Name, pkg.Version))
		}
	})
	dom.On(dom.Element("notices"), "click", func(js.Value) {
		text, err := dom.Fetch(ctx, "tools/NOTICES.txt")
		if dom.Failed(err) {
			return
		}
		pre := dom.Create("pre", string(text))
		pre.Set("tabIndex", 0)
		pre.Set("className", "notices")
		pre.Call("setAttribute", "aria-label", "Licences")
		dialog.Ask(dialog.Question{Title: "What the bundled tools are made of", Body: []js.Value{pre}, Answers: []string{"Close"}})
	})
	for _, b := range p.tools.bundles {
		names := []string{}
		licences := []string{}
		for _, t := range b.Tools {
			names = append(names, t.Name)
			if !slices.Contains(licences, t.Licence) {
				licences = append(licences, t.Licence)
			}
		}
		row := dom.Create("li", "")
		row.Call("append", dom.Create("b", b.Name), dom.Create("small", fmt.Sprintf(" %s, fetched when it is first used · %s", dom.Size(b.Size), strings.Join(licences, ", "))), dom.Create("p", strings.Join(names, " ")))
		dom.Element("bundles").Call("append", row)
	}
	dom.Hide("no-tools", len(p.tools.bundles) > 0)
	dom.Hide("notices", len(p.tools.bundles) == 0)
}

// show lists the installed packages, with the rights that each asks for and has.
func (p *packages) show(ctx context.Context) error {
	list, err := p.tools.packages.List(ctx)
	box := dom.Element("packages")
	box.Call("replaceChildren")
	p.of.Release()
	for _, pkg := range list {
		row := dom.Create("li", "")
		row.Call("append", dom.Create("b", pkg.Name), dom.Create("small", fmt.Sprintf(" %s by %s · %s", pkg.Version, cmp.Or(pkg.Author, "nobody named"), cmp.Or(pkg.Licence, "no licence named"))),
			dom.Create("p", cmp.Or(pkg.Description, "It says nothing about itself.")), dom.Create("small", "SHA-256 "+pkg.SHA256[:16]+"…"))
		grant := func(g worker.PackageGrant) {
			p.lock.Lock()
			defer p.lock.Unlock()
			if _, err := p.tools.packages.Grant(ctx, pkg.Name, g); !dom.Failed(err) && !dom.Failed(p.show(ctx)) {
				dom.Status(pkg.Name + ": kept.")
			}
		}
		row.Call("append", selection(&p.of, "when-"+pkg.Name, pkg.Name+" runs", string(cmp.Or(pkg.Granted.Decision, worker.PackageAsk)),
			[][2]string{{"ask", "after a question each conversation"}, {"always", "without a question, in scripts too"}, {"never", "never"}},
			func(v string) {
				grant(worker.PackageGrant{Files: pkg.Granted.Files, Decision: worker.PackageDecision(v)})
			}))
		if want := pkg.Execution.FileAccess; want != worker.FilesNone && want != "" {
			row.Call("append", selection(&p.of, "files-"+pkg.Name, "and may", string(cmp.Or(pkg.Granted.Files, worker.FilesNone)),
				[][2]string{{string(worker.FilesNone), "touch " + wants[worker.FilesNone]}, {string(want), wants[want]}},
				func(v string) {
					grant(worker.PackageGrant{Files: worker.FileAccess(v), Decision: pkg.Granted.Decision})
				}))
		}
		bar := dom.Create("div", "")
		bar.Set("className", "bar")
		p.of.Button(bar, "Licence", "small", func() {
			text := "The package brings no text of a licence."
			for _, name := range []string{"LICENSE", "LICENCE", "LICENSE.txt", "LICENCE.txt", "COPYING"} {
				if data, err := pkg.File(name); err == nil {
					text = strings.ToValidUTF8(string(data), "\uFFFD")
				}
			}
			pre := dom.Create("pre", text)
			pre.Set("tabIndex", 0)
			pre.Set("className", "notices")
			dialog.Ask(dialog.Question{Title: "Licence of " + pkg.Name, Body: []js.Value{pre}, Answers: []string{"Close"}})
		})
		p.of.Button(bar, "Remove", "stop small", func() {
			p.lock.Lock()
			defer p.lock.Unlock()
			if dom.Failed(p.tools.packages.Remove(ctx, pkg.Name)) || dom.Failed(p.show(ctx)) {
				return
			}
			dialog.Toast("Removed " + pkg.Name + ".")
		}).Call("setAttribute", "aria-label", "Remove "+pkg.Name)
		row.Call("append", bar)
		box.Call("append", row)
	}
	dom.Hide("no-packages", len(list) > 0)
	return err
}

// selection adds a labelled list of options to a new row, and returns the row. Each option is a
// value and its text.
func selection(l *dom.Listeners, id, text, now string, options [][2]string, chosen func(string)) js.Value {
	row, label, menu := dom.Create("div", ""), dom.Create("label", text), dom.Create("select", "")
	row.Set("className", "bar")
	menu.Set("id", id)
	label.Set("htmlFor", id)
	label.Set("className", "small")
	for _, o := range options {
		el := dom.Create("option", o[1])
		el.Set("value", o[0])
		el.Set("selected", o[0] == now)
		menu.Call("append", el)
	}
	l.On(menu, "change", func(js.Value) { chosen(menu.Get("value").String()) })
	row.Call("append", label, menu)
	return row
}
