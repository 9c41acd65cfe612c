//go:build js && wasm

package main

import (
	"cmp"
	"errors"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/worker"
)

// openPackages opens the store of the packages that the user installed. It is in the origin private
// file system, or in memory if the browser has none. The names of the built tools are reserved.
func (a *app) openPackages() error {
	store := worker.MemoryStore()
	folder, err := fsaccess.OPFS(a.ctx, "tools")
	if err == nil {
		store = worker.FolderStore(folder, ".")
	} else if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	a.packages = worker.NewPackages(store, worker.PackagesOptions{Reserved: a.tools.names()})
	return a.showPackages()
}

// install installs the chosen ZIP files. That grants them nothing.
func (a *app) install() error {
	for _, f := range dom.Chosen("zip") {
		data, err := dom.Bytes(a.ctx, f)
		if err != nil {
			return err
		}
		pkg, err := a.packages.Install(a.ctx, data, "")
		if err != nil {
			return err
		}
		dom.Status(fmt.Sprintf("Installed %s %s. It may touch no file until you allow it.", pkg.Name, pkg.Version))
	}
	return a.showPackages()
}

// showPackages lists the installed packages, with the rights that each asks for and has.
func (a *app) showPackages() error {
	list, err := a.packages.List(a.ctx)
	box := dom.Element("packages")
	box.Call("replaceChildren")
	a.ofPackages.Release()
	for name, e := range a.tools.tools {
		if e.pkg != nil {
			delete(a.tools.tools, name)
		}
	}
	for _, pkg := range list {
		a.tools.tools[pkg.Name] = &entry{Manifest: &pkg.Manifest, pkg: pkg}
		row := dom.Create("li", "")
		title := dom.Create("div", "")
		title.Call("append", dom.Create("b", pkg.Name), dom.Create("span", " "+pkg.Version+" by "+orNobody(pkg.Author)))
		row.Call("append", title, dom.Create("small", pkg.Description), dom.Create("small", "SHA-256 "+pkg.SHA256[:16]+"…"))
		if want := pkg.Execution.FileAccess; want != worker.FilesNone {
			row.Call("append", a.allowance(pkg, want))
		}
		a.ofPackages.Button(row, "Remove", "quiet", func() {
			err := a.packages.Remove(a.ctx, pkg.Name)
			if err == nil {
				err = a.showPackages()
			}
			say(errText(err))
		}).Call("setAttribute", "aria-label", "Remove "+pkg.Name)
		box.Call("append", row)
	}
	a.showTools()
	return err
}

// allowance returns a checkbox by which the user grants a package the file access that it asks for.
func (a *app) allowance(pkg *worker.Package, want worker.FileAccess) js.Value {
	label, check := dom.Create("label", ""), dom.Create("input", "")
	check.Set("type", "checkbox")
	check.Set("id", "allow-"+pkg.Name)
	check.Set("checked", pkg.Granted.Files == want)
	text := map[worker.FileAccess]string{worker.FilesRead: "may read these files", worker.FilesWrite: "may add files", worker.FilesReadWrite: "may read and change these files"}[want]
	label.Call("append", check, dom.Create("span", text))
	a.ofPackages.On(check, "change", func(js.Value) {
		grant := worker.PackageGrant{Decision: pkg.Granted.Decision}
		if check.Get("checked").Bool() {
			grant.Files = want
		}
		_, err := a.packages.Grant(a.ctx, pkg.Name, grant)
		if err == nil {
			err = a.showPackages()
		}
		say(errText(err))
		if err == nil {
			dom.Status(fmt.Sprintf("%s may do with files: %s", pkg.Name, string(cmp.Or(grant.Files, worker.FilesNone))))
		}
	})
	return label
}

func orNobody(author string) string {
	if author == "" {
		return "nobody named"
	}
	return author
}
