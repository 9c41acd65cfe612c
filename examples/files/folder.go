//go:build js && wasm

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// folders sets up the buttons that open a folder.
func (a *app) folders() {
	a.on("pick", func() error {
		f, err := fsaccess.Pick(a.ctx, fsaccess.ReadWrite, fsaccess.PickOptions{ID: "bailey-files"})
		return a.chosen(f, "", err)
	})
	a.on("upload", func() error {
		f, err := fsaccess.Upload(a.ctx)
		return a.chosen(f, "", err)
	})
	a.on("sample", a.useSample)
	a.on("undo", func() error { return a.took("Took back the last change.", a.work.Undo(a.ctx)) })
	on(element("history"), "click", a.step)
	a.on("redo", func() error { return a.took("Did it again.", a.work.Redo(a.ctx)) })
	instead := map[string]string{
		"pick":   "Only browsers made from Chromium let a page work in a folder itself. Upload a folder to work on a copy, or begin with the sample.",
		"upload": "This browser doesn't let pages take a folder. Begin with the sample, or drop files on the page.",
	}
	for _, s := range fsaccess.Supported() {
		if words, ours := instead[s.Name]; ours {
			enable(s.Name, s.OK)
			if !s.OK {
				element(s.Name).Set("title", words)
			}
		}
	}
	enable("sample", true)
	go a.drops()
}

// chosen opens the folder of a dialogue or a drop. A closed dialogue, [fsaccess.ErrCancelled], is
// no error.
func (a *app) chosen(f *fsaccess.Folder, name string, err error) error {
	if errors.Is(err, fsaccess.ErrCancelled) {
		status("No folder was opened. Browsers refuse some themselves, without telling: the home folder, Downloads and system folders. Open a folder in them instead, or upload it.")
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the browser does not let this page into the folder: press the button again and allow it, or upload the folder: %w", err)
	}
	if err != nil {
		return err
	}
	name = cmp.Or(name, f.Name(), "your folder")
	if name == sampleName { // the conversations, grants and undo of the sample are stored by this name
		name += " on this machine"
	}
	// A browser takes a while to return the first name of a large folder. So the listing begins
	// now, and the permission is asked for meanwhile.
	top := listTop(a.ctx, f)
	if s := f.Features().Source; s == "picked" || s == "drop" {
		switch err := fsaccess.RequestWrite(a.ctx, f); {
		case err == nil:
			// Everything that is stored by the name belongs to this folder: conversations with
			// their grants, the undo, the copy.
			if name, err = fsaccess.RememberAs(a.ctx, f, name); err != nil {
				top.stop()
				return err
			}
		case !errors.Is(err, fs.ErrPermission):
			top.stop()
			return err
		}
	}
	return a.useListed(f, name, top)
}

// sampleName is the name of the sample. The data of the sample is stored by it.
const sampleName = "Sample folder"

// useSample copies the sample into the origin private file system, once, and opens it. In a browser
// without that file system the sample is in memory, and its name in the page states so.
func (a *app) useSample() error {
	name := sampleName
	f, err := fsaccess.OPFS(a.ctx, "files-sample")
	if errors.Is(err, errors.ErrUnsupported) {
		name += " (in memory: gone with this page)"
		f, err = fsaccess.NewMemory(fsaccess.MemoryOptions{}), nil
	}
	if err != nil {
		return err
	}
	if list, err := f.ReadDir("."); err == nil && len(list) == 0 {
		from, err := fs.Sub(sample, "sample")
		if err != nil {
			return err
		}
		if err := fsaccess.Copy(a.ctx, f, ".", fsaccess.FromFS(from), ".", fsaccess.CopyOptions{}); err != nil {
			return err
		}
	}
	return a.use(f, name)
}

// use opens a folder whose listing has not begun.
func (a *app) use(f *fsaccess.Folder, name string) error {
	return a.useListed(f, name, listTop(a.ctx, f))
}

// useListed opens a folder: it puts a journal over the folder, and a box over the journal. A folder
// that cannot be written, or that the user wants unchanged, is worked on in a copy. The caller has
// begun the listing top, of the folder without its copy, because all other file operations wait
// while a browser lists a large folder.
func (a *app) useListed(f *fsaccess.Folder, name string, top *listing) error {
	if a.stop != nil {
		a.stop()
	}
	a.closeTalks()
	a.over = nil
	var store fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
	a.sessions = sandbox.NewMemoryStore()
	kind, key := f.Features(), fmt.Sprintf("%x", name)
	switch {
	case kind.ReadOnly:
		a.over = fsaccess.NewOverlay(f, fsaccess.NewMemory(fsaccess.MemoryOptions{}))
	case a.kept.Copies[name]:
		var upper fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
		if lasts(f) {
			var err error
			if upper, err = fsaccess.OPFS(a.ctx, "files-copy/"+key); err != nil {
				top.stop()
				return err
			}
		}
		a.over = fsaccess.NewOverlay(f, upper)
	}
	var work fsaccess.FS = f
	if a.over != nil {
		work = a.over
		top.stop()
		top = listTop(a.ctx, work)
	}
	var ctx context.Context
	ctx, a.stop = context.WithCancel(a.ctx)
	a.tree.folder(ctx, work, top)
	element("name").Set("textContent", name)
	if lasts(f) {
		talks, err := sandbox.NewIndexedStore(a.ctx, "files-"+key)
		if err == nil && a.over == nil {
			store, err = fsaccess.OPFS(a.ctx, "files-undo/"+key)
		}
		if err != nil {
			a.stop()
			if a.work != nil { // a.work is still the previous folder
				ctx, a.stop = context.WithCancel(a.ctx)
				a.tree.folder(ctx, a.work, listTop(ctx, a.work))
				element("name").Set("textContent", a.name)
			}
			return err
		}
		a.sessions = talks
	}
	a.older = 0
	a.source, a.name, a.work = f, name, fsaccess.NewJournal(work, store)
	a.here()
	a.remembered() // the open folder is not in that list
	for _, id := range []string{"newfile", "newfolder", "move", "remove", "copy", "zip"} {
		enable(id, true)
	}
	if err := a.rebox(); err != nil {
		return err
	}
	if err := errors.Join(top.wait(), a.around()); err != nil {
		return err
	}
	if !kind.ReadOnly {
		go a.tree.watch(ctx, f, top)
	}
	said := "Open: " + name
	if kind.ReadOnly {
		said += ". It can be read, not written: changes are kept beside it."
	}
	select {
	case <-top.ended:
		status(said)
	default:
		still := said + " (more files are still being listed)"
		status(still)
		go func() {
			if <-top.ended; ctx.Err() == nil && element("status").Get("textContent").String() == still {
				status(said)
			}
		}()
	}
	return nil
}

// rebox makes a new box with the present skills, tools and rules. It opens the conversation that
// was in view, or else the last one.
func (a *app) rebox() error {
	at := ""
	if a.cur != nil {
		at = a.cur.session.ID()
	}
	a.closeTalks()
	if err := a.readSkills(); err != nil {
		return err
	}
	a.showSkills()
	box, err := sandbox.New(sandbox.Options{FS: a.work, Policy: a.policyHere(), Ask: a, Remember: a.remember, Question: a.question, Sessions: a.sessions, Skills: a.skills, OnProgress: a.progress,
		Tools:  append(sandbox.Standard(), sandbox.CodeRun(a.code), sandbox.ToolRun(a.tools), shell.Bash(shell.Options{Runner: a.tools})),
		Prompt: "You work on the folder of the person you talk with, in their browser. Use the tools; say briefly what you did."})
	if err != nil {
		return err
	}
	a.box = box
	if at != "" {
		return a.open(at)
	}
	return a.resume()
}

// refresh shows the tree, the history and the used storage again.
func (a *app) refresh() error {
	if err := a.tree.load(); err != nil {
		return err
	}
	return a.around()
}

// around shows the used storage, the state of the copy and the history.
func (a *app) around() error {
	if s, err := fsaccess.StorageEstimate(a.ctx); err == nil {
		element("room").Set("textContent", fmt.Sprintf("Storage of this site: about %s of %s", size(s.Usage), size(s.Quota)))
	}
	if err := a.pending(); err != nil {
		return err
	}
	return a.history()
}

// remembered lists the folders of earlier visits, each with a button that opens it.
func (a *app) remembered() {
	list, err := fsaccess.Remembered(a.ctx)
	if err != nil {
		return // this browser stores no handles
	}
	element("kept").Call("replaceChildren")
	a.ofKept.release()
	for _, r := range list {
		if r.Name == a.name {
			continue
		}
		again := create("button", "Open "+r.Name+" again")
		again.Set("type", "button")
		element("kept").Call("append", again)
		a.ofKept.on(again, "click", func(js.Value) {
			a.mu.Lock()
			defer a.mu.Unlock()
			f, err := fsaccess.Restore(a.ctx, r.Name)
			failed(a.chosen(f, r.Name, err))
		})
	}
}

func (a *app) drops() {
	zone, err := fsaccess.NewDropZone("body")
	if failed(err) {
		return
	}
	for a.ctx.Err() == nil {
		d, err := zone.Next(a.ctx)
		a.mu.Lock()
		failed(a.chosen(d.Folder, d.Name, err))
		a.mu.Unlock()
	}
}
