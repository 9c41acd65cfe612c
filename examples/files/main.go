//go:build js && wasm

// Files is an assistant that works on a folder of the user's, in their page. It reads the files
// that the policy lets it read, and asks before it changes any. The user can undo each change.
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

// rules is the assistant's policy: it reads every file, changes files after a question, and runs
// code that reaches only the same tools.
//
//go:embed policy.json
var rules string

func main() {
	err := run(context.Background()) // run returns only if it fails
	fmt.Fprintln(os.Stderr, err)
	failed(fmt.Errorf("the page could not start: %w", err))
	os.Exit(1)
}

// app is the page's state. mu is held during one action of the user's, such as opening a folder.
// Runs of the model do not hold it.
type app struct {
	ctx    context.Context
	mu     sync.Mutex
	kept   kept
	loaded string // the provider's origin in this page's policy, fixed until a reload
	policy *protocol.Policy
	rules  protocol.Rules // the user's lasting answers about this folder

	name    string
	source  *fsaccess.Folder  // the folder that the user opened
	over    *fsaccess.Overlay // a copy over source, nil without one
	work    *fsaccess.Journal
	steps   rows               // of the list of changes
	older   int                // number of presses on "older", each of which shows historyRows more changes
	pressed js.Func            // click listener of the notifications
	stop    context.CancelFunc // ends the watch
	tree    *tree
	skills  []sandbox.Skill

	ofSkills, ofPackages, ofKept listeners // of lists, released before a list is rebuilt

	tools    *toolbox
	code     *enclave.Runner
	box      *sandbox.Box
	sessions sandbox.Store
	records  []protocol.SessionRecord // of the conversations with a tab
	tabs     rows
	talks    map[string]*talk // the open conversations, by session id
	blocked  int              // number of blocked attempts
	looks    int              // number of times that any conversation was put in view
	cur      *talk            // the conversation in view, nil if there is none
	prompts  prompts
}

func run(ctx context.Context) error {
	a := &app{ctx: ctx, kept: load(), talks: map[string]*talk{}}
	a.loaded = a.kept.Origin
	for _, id := range []string{"rows", "history", "kept", "cards", "stopped", "reach", "grants", "holds", "sessions", "talk", "bundles", "packages", "skills", "heard", "toasts"} {
		element(id).Call("replaceChildren") // after an exit the program is started again in the same page
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
		failed(err) // a damaged package does not stop the page
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

// on calls do at each click on the element, with mu held, and shows its error.
func (a *app) on(id string, do func() error) {
	on(element(id), "click", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		failed(do())
	})
}
