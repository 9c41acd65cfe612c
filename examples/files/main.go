//go:build js && wasm

// Files is an assistant that works on a folder of the user's, in their page. It reads the files
// that the policy lets it read, and asks before it changes any. The user can undo each change.
//
// This folder makes the parts of the page, and connects them. Each part is a package of its own:
// workspace has the open folder and its changes, tree shows it, viewer shows and edits a file, sessions has the conversations, talk
// shows one, consent asks the user, settings keeps what the user chose, tools has the commands, network
// has the web and MCP servers, place a box on this computer, vault has the user's secrets, keys those of the
// page itself, spent shows what a conversation has used, and shield shows what was blocked.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/network"
	"github.com/bailey-go/bailey/examples/files/notify"
	"github.com/bailey-go/bailey/examples/files/place"
	"github.com/bailey-go/bailey/examples/files/sessions"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/files/shield"
	"github.com/bailey-go/bailey/examples/files/spent"
	"github.com/bailey-go/bailey/examples/files/talk"
	"github.com/bailey-go/bailey/examples/files/tools"
	"github.com/bailey-go/bailey/examples/files/vault"
	"github.com/bailey-go/bailey/examples/files/workspace"
	"github.com/bailey-go/bailey/examples/internal/dom"
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

// rules is the assistant's policy: it reads every file, changes files after a question, and runs
// code that reaches only the same tools.
//
//go:embed policy.json
var rules string

func main() {
	err := run(context.Background()) // run returns only if it fails
	fmt.Fprintln(os.Stderr, err)
	dom.Failed(fmt.Errorf("the page could not start: %w", err))
	os.Exit(1)
}

// app connects the parts of the page. mu is held during one action of the user's, such as opening a
// folder. Runs of the model do not hold it.
type app struct {
	ctx       context.Context
	mu        sync.Mutex
	settings  *settings.Settings
	grants    *settings.Grants
	tools     *tools.Toolbox
	skills    *tools.Skills
	code      *enclave.Runner
	vault     *vault.Vault
	network   *network.Network
	workspace *workspace.Workspace
	sessions  *sessions.Sessions
	store     sandbox.Store // of the open folder's conversations
}

func run(ctx context.Context) error {
	// After an exit the program is started again in the same page.
	dom.Empty("rows", "history", "kept", "cards", "stopped", "reach", "grants", "holds", "sessions", "papers", "bundles", "packages", "skills", "heard", "toasts", "secrets", "servers", "place-walls")
	a := &app{ctx: ctx}
	a.settings = settings.Load(ctx, &a.mu)
	rules, err := policy.Parse(rules, policy.Options{})
	if err != nil {
		return err
	}
	if err := a.settings.Narrow(rules); err != nil {
		return err
	}
	dom.SetText("policy", policy.Format(rules))
	if a.tools, err = tools.NewToolbox(ctx); err != nil {
		return err
	}
	a.code = enclave.New(rules, iframe.EnclaveOptions{})
	dom.Tabs("#panels [role=tab]")
	var blocked shield.Shield
	blocked.Listen(ctx, a.settings.Origin, a.settings.Origins)
	a.settings.Listen(ctx)
	a.grants = a.settings.NewGrants(settings.GrantsOptions{Policy: rules, Session: a.session, Busy: a.busy, OnChange: a.rebox})
	a.grants.Listen()
	a.skills = tools.NewSkills(a.settings, &a.mu, func(change func()) error {
		if err := a.busy(); err != nil {
			return err
		}
		change()
		a.settings.Save()
		return a.rebox()
	})
	if a.vault, err = vault.New(ctx, vault.Options{Lock: &a.mu, Settings: a.settings, Busy: a.busy, OnChange: a.rebox}); err != nil {
		return err
	}
	a.network = network.New(ctx, network.Options{Lock: &a.mu, Settings: a.settings, Busy: a.busy, OnChange: a.rebox})
	a.network.Listen()
	a.tools.Listen(ctx, &a.mu)
	notices := notify.New(ctx, a.settings, &a.mu)
	counts := `how many lines has hours.csv`
	if a.tools.Built() { // a WebAssembly program, behind two frames of its own
		counts = `run "awk -F, '{s += $3} END {print s}' hours.csv"`
	}
	a.sessions, err = sessions.New(ctx, sessions.Options{
		Lock: &a.mu, Settings: a.settings, Shield: &blocked, Notify: notices.Notify, Counts: counts, Spent: spent.New(a.settings, &a.mu).Show,
		Refresh: func() error { return errors.Join(a.workspace.Refresh(), a.network.Settle()) },
		Reveal:  func(path string) { a.workspace.Reveal(path) },
		Picture: a.picture,
		View:    func(path string) { a.workspace.Open(path) },
		Keep:    func(name, text string) error { return a.workspace.Keep(name, text) },
		Journal: func() *fsaccess.Journal { return a.workspace.FS().(*fsaccess.Journal) },
		Rules:   func() protocol.FSPolicy { return a.grants.PolicyHere().FS },
		Waits:   func() bool { return a.workspace.Waits() },
		Takes:   func(ctx context.Context, q fsaccess.Question) (bool, error) { return a.workspace.Takes(ctx, q) },
		Arrived: func(c *place.Arrived, from string, done func()) error { return a.workspace.Arrived(c, from, done) },
		Sample:  func() error { return a.workspace.UseSample() },
		Page:    a.network.Page, Free: a.network.Free,
	})
	if err != nil {
		return err
	}
	a.mu.Lock() // the user may press a button, or drop a folder, meanwhile
	a.workspace = workspace.New(ctx, workspace.Options{
		Sample: sample, Lock: &a.mu, Settings: a.settings, OnClose: a.sessions.Close, OnOpen: a.opened, Mention: a.sessions.Mention, Link: talk.OpenLink,
	})
	err = a.workspace.Start()
	a.mu.Unlock()
	if err != nil {
		return err
	}
	a.vault.Listen(ctx)
	a.network.Start()
	dom.Enable("tour", true)
	select {}
}

// picture returns an image of the folder that an answer names by its path. It is shown to the user in a frame without a
// network. The model does not see it, and a file that the policy keeps from the model is not shown in its answer either.
func (a *app) picture(ctx context.Context, path string) ([]byte, error) {
	a.mu.Lock()
	work, policy := a.workspace.FS(), a.grants.PolicyHere().FS
	a.mu.Unlock()
	f := fsaccess.WithContext(ctx, fsaccess.Guard(work, policy, fsaccess.GuardOptions{}))
	if st, err := f.Stat(path); err != nil {
		return nil, err
	} else if st.Size() > talk.MaxPicture {
		return nil, fmt.Errorf("%s has %d bytes: an answer shows pictures up to %d", path, st.Size(), talk.MaxPicture)
	}
	return f.ReadFile(path)
}

// opened makes the box of another folder.
func (a *app) opened(store sandbox.Store, lasts bool) error {
	a.store = store
	a.grants.Open(a.workspace.Name(), lasts)
	return a.rebox()
}

// rebox makes a new box with the present skills, tools and rules.
func (a *app) rebox() error {
	skills, err := a.skills.Read(a.ctx, a.workspace.FS())
	if err != nil {
		return err
	}
	box, err := sandbox.New(sandbox.Options{FS: a.workspace.FS(), Policy: a.network.Policy(a.vault.Policy(a.grants.PolicyHere())), Ask: a.sessions.Sheet(), Remember: a.grants.Remember, AnswerModel: dialog.AnswerModel, Sessions: a.store, Skills: skills, OnProgress: a.sessions.Progress,
		Tools:        slices.Concat(sandbox.Standard(), []sandbox.Tool{sandbox.CodeRun(a.code), sandbox.ToolRun(a.tools), shell.Bash(shell.Options{Runner: a.tools})}, a.vault.Tools(), a.network.Tools()),
		SystemPrompt: "You work on the folder of the user you talk with, in their browser. Use the tools; say briefly what you did. A message of the user's that begins with / and the name of a file that comes with it calls a skill: follow the text of that file."})
	if err != nil {
		return err
	}
	a.sessions.Commands(skills)
	return a.sessions.Open(box, a.store, a.workspace.Name())
}

// busy returns an error while a conversation is at work.
func (a *app) busy() error {
	if a.sessions == nil {
		return nil
	}
	return a.sessions.Busy()
}

// session returns the session in view, and nil if there is none.
func (a *app) session() settings.Session {
	if a.sessions != nil && a.sessions.Current() != nil {
		return a.sessions.Current()
	}
	return nil
}
