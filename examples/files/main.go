//go:build js && wasm

// Files is an assistant that works on a folder of the person's, in their page: it reads
// what the policy lets it read, asks before it changes anything, and everything it did
// can be taken back.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/enclave"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell"
)

//go:embed sample
var sample embed.FS

// rules is what the assistant may do: read all, change all after a question, run code
// that reaches nothing but the same tools.
//
//go:embed policy.json
var rules string

func main() {
	err := run(context.Background()) // which ends only if it fails
	fmt.Fprintln(os.Stderr, err)
	failed(fmt.Errorf("the page could not start: %w", err))
	os.Exit(1)
}

// app is the page's state. mu is held while one thing the person asked for is done;
// talking with the model goes on beside it.
type app struct {
	ctx    context.Context
	mu     sync.Mutex
	kept   kept
	policy *protocol.Policy

	name string
	work *fsaccess.Journal
	stop context.CancelFunc // of the watch
	tree *tree

	box     *sandbox.Box
	code    *enclave.Runner
	runner  sandbox.CommandRunner // nil: there are no tools here
	session *sandbox.Session
	view    *iframe.Document
	talk    talk
	prompts prompts
}

func run(ctx context.Context) error {
	a := &app{ctx: ctx, kept: load()}
	for _, id := range []string{"rows", "history", "kept", "cards", "stopped", "reach", "holds", "sessions"} {
		element(id).Call("replaceChildren") // a program that stopped is started again in the same page
	}
	var err error
	if a.policy, err = policy.Parse(rules, policy.Options{}); err != nil {
		return err
	}
	element("policy").Set("textContent", policy.Format(a.policy))
	if a.runner, err = a.tools(); err != nil {
		return err
	}
	a.code = enclave.New(a.policy)
	a.tree = newTree(a)
	tabs()
	a.shield()
	a.settings()
	a.prompts.listen()
	a.on("pick", func() error {
		f, err := fsaccess.Pick(ctx, fsaccess.ReadWrite, fsaccess.PickOptions{ID: "bailey-files"})
		return a.chosen(f, "", err)
	})
	a.on("upload", func() error {
		f, err := fsaccess.Upload(ctx)
		return a.chosen(f, "", err)
	})
	a.on("sample", a.useSample)
	a.on("undo", func() error { return a.took("Took back the last change.", a.work.Undo(ctx)) })
	a.on("redo", func() error { return a.took("Did it again.", a.work.Redo(ctx)) })
	a.conversation()
	for _, s := range fsaccess.Supported() {
		if s.Name == "pick" || s.Name == "upload" {
			enable(s.Name, s.OK)
			element(s.Name).Set("title", s.Reason)
		}
	}
	enable("sample", true)
	go a.drops()
	a.remembered()
	if err := a.useSample(); err != nil {
		return err
	}
	enable("tour", true)
	select {}
}

// on does what a button is for, one thing at a time, and says what went wrong.
func (a *app) on(id string, do func() error) {
	on(element(id), "click", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		failed(do())
	})
}

// chosen opens what a dialogue or a drop gave. Closing the dialogue is no failure.
func (a *app) chosen(f *fsaccess.Folder, name string, err error) error {
	if errors.Is(err, fsaccess.ErrCancelled) {
		status(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if name == "" {
		name = "your folder"
		if fi, err := f.Stat("."); err == nil && fi.Name() != "." {
			name = fi.Name()
		}
	}
	if s := f.Features().Source; s == "picked" || s == "drop" {
		switch err := fsaccess.RequestWrite(a.ctx, f); {
		case err == nil:
			if err := fsaccess.Remember(a.ctx, f, name); err != nil {
				return err
			}
			a.remembered()
		case !errors.Is(err, fs.ErrPermission):
			return err
		}
	}
	return a.use(f, name)
}

// useSample copies the sample into the origin's private file system, once. A
// browser without one has it in memory, and is told so.
func (a *app) useSample() error {
	name := "Sample folder"
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

// use puts the journal over a folder and a box over that. What can't be written is
// worked on beside itself.
func (a *app) use(f *fsaccess.Folder, name string) error {
	if a.stop != nil {
		a.stop()
	}
	if a.session != nil {
		a.session.Close()
		a.session = nil
	}
	var work fsaccess.FS = f
	var store fsaccess.FS = fsaccess.NewMemory(fsaccess.MemoryOptions{})
	var sessions sandbox.Store = sandbox.NewMemoryStore()
	switch kind := f.Features(); {
	case kind.ReadOnly:
		work = fsaccess.NewOverlay(f, fsaccess.NewMemory(fsaccess.MemoryOptions{}))
	case kind.Source != "memory":
		undo, err := fsaccess.OPFS(a.ctx, fmt.Sprintf("files-undo/%x", name))
		if err != nil {
			return err
		}
		talks, err := sandbox.NewIndexedStore(a.ctx, fmt.Sprintf("files-%x", name))
		if err != nil {
			return err
		}
		store, sessions = undo, talks
	}
	a.work, a.name = fsaccess.NewJournal(work, store), name
	box, err := sandbox.New(sandbox.Options{FS: a.work, Policy: a.policy, Ask: a, Question: a.question, Sessions: sessions,
		Tools:  append(sandbox.Standard(), sandbox.CodeRun(a.code), sandbox.ToolRun(a.runner), shell.Bash(shell.Options{Runner: a.runner})),
		Prompt: "You work on the folder of the person you talk with, in their browser. Use the tools; say briefly what you did."})
	if err != nil {
		return err
	}
	a.box = box
	a.tree.open, a.tree.picked = map[string]bool{}, ""
	element("name").Set("textContent", name)
	var ctx context.Context
	ctx, a.stop = context.WithCancel(a.ctx)
	if !f.Features().ReadOnly {
		go a.tree.watch(ctx, f)
	}
	if err := a.refresh(); err != nil {
		return err
	}
	if err := a.resume(); err != nil {
		return err
	}
	status("Open: " + name)
	if f.Features().ReadOnly {
		status("Open: " + name + ". It can be read, not written: changes are kept beside it.")
	}
	return nil
}

// refresh shows the tree, the history and the room anew.
func (a *app) refresh() error {
	if err := a.tree.load(); err != nil {
		return err
	}
	if s, err := fsaccess.StorageEstimate(a.ctx); err == nil {
		element("room").Set("textContent", fmt.Sprintf("This site uses about %s of %s, as the browser rounds it.", size(s.Usage), size(s.Quota)))
	}
	return a.history()
}

// remembered offers folders of earlier visits: one click brings them back.
func (a *app) remembered() {
	list, err := fsaccess.Remembered(a.ctx)
	if err != nil {
		return // this browser keeps no handles
	}
	element("kept").Call("replaceChildren")
	for _, r := range list {
		again := create("button", "Open "+r.Name+" again")
		again.Set("type", "button")
		element("kept").Call("append", again)
		on(again, "click", func(js.Value) {
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
