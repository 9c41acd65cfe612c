//go:build js && wasm

// Files is an assistant that works on a folder of the person's, in their page: it reads
// what the policy lets it read, asks before it changes anything, and everything it did
// can be taken back.
package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/enclave"
	"github.com/bailey-go/bailey/sandbox/policy"
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
	loaded string // the provider's origin that this page's policy names
	policy *protocol.Policy
	rules  protocol.Rules // answers for good, for the folder

	name    string
	source  *fsaccess.Folder  // what was opened
	over    *fsaccess.Overlay // over it, when a copy is worked on
	work    *fsaccess.Journal
	steps   rows               // of the changes
	older   int                // how often older ones were asked for
	pressed js.Func            // of notices
	stop    context.CancelFunc // of the watch
	tree    *tree
	skills  []sandbox.Skill

	ofSkills, ofPackages, ofKept listeners // of lists that are made anew

	tools    *toolbox
	code     *enclave.Runner
	box      *sandbox.Box
	sessions sandbox.Store
	records  []protocol.SessionRecord // of the tabs
	tabs     rows
	talks    map[string]*talk // that are open, by session
	blocked  int              // how much was stopped
	looks    int              // how often one was put in view
	cur      *talk            // in view
	prompts  prompts
}

func run(ctx context.Context) error {
	a := &app{ctx: ctx, kept: load(), talks: map[string]*talk{}}
	a.loaded = a.kept.Origin
	for _, id := range []string{"rows", "history", "kept", "cards", "stopped", "reach", "grants", "holds", "sessions", "talk", "bundles", "packages", "skills", "heard", "toasts"} {
		element(id).Call("replaceChildren") // a program that stopped is started again in the same page
	}
	var err error
	if a.policy, err = policy.Parse(rules, policy.Options{}); err != nil {
		return err
	}
	element("policy").Set("textContent", policy.Format(a.policy))
	if a.tools, err = newToolbox(ctx); err != nil {
		return err
	}
	if err := a.showPackages(); err != nil {
		failed(err) // one that is damaged is no reason not to start
	}
	a.code = enclave.New(a.policy)
	a.tree = newTree(a)
	tabs("#panels [role=tab]")
	a.shield()
	a.settings()
	a.granting()
	a.prompts.listen()
	a.folders()
	a.changes()
	a.copying()
	a.conversations()
	a.composer()
	a.toolsPanel()
	a.notices()
	a.offline()
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
