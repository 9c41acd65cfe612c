// Headless runs a task in a terminal. It has the same box, policy and tools as in a page, over a
// folder of the operating system. Without the option -provider, [provider.Commands], which follows
// rules, takes the model's place.
//
//	go run ./examples/headless -dir ~/notes "list the files" "add 'milk' to list.txt"
//	ANTHROPIC_API_KEY=… go run ./examples/headless -provider anthropic -model claude-sonnet-4-5 -dir ~/notes "what is in these notes?"
//
// It asks on the terminal before each change. An answer that allows a change repeats the number of
// its question, such as "yes 417". Any other line refuses, and is returned to the model as the
// reason. Lines that were typed before a question do not answer it. If the input is not a terminal,
// its lines are requests only. Then, and with -headless, no question is shown and changes are
// denied.
//
// The request "undo" undoes the last change. The option -policy reads a policy from a file, which
// may be a settings file of sandbox-runtime. The option -audit writes the log to a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/shell"
)

func main() {
	dir := flag.String("dir", ".", "the folder")
	file := flag.String("policy", "", "a policy in JSON; default: read all, ask before each change")
	audit := flag.String("audit", os.DevNull, "write the audit log to this file")
	headless := flag.Bool("headless", false, "ask nobody: what would be asked about is denied")
	var c choice
	flag.StringVar(&c.provider, "provider", "", "ask a model of this provider, with the key in its environment variable: "+names())
	flag.StringVar(&c.name, "model", "", "the provider's name of the model")
	flag.StringVar(&c.url, "url", "", "the server's address, if it is not the provider's own")
	flag.Parse()
	m, err := c.model(os.Getenv, network())
	if err == nil {
		err = run(*dir, *file, *audit, *headless, m, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, inLine("headless: "+err.Error()))
		os.Exit(1)
	}
}

func run(dir, file, audit string, headless bool, m sandbox.Model, requests []string) error {
	ctx := context.Background()
	p := policy.AskBeforeChanges()
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if p, err = policy.Parse(string(text), policy.Options{}); err != nil {
			return err
		}
	}
	folder, err := fsaccess.OpenDir(dir, fsaccess.DirOptions{})
	if err != nil {
		return err
	}
	defer folder.Close()
	undo, err := undoStore(dir)
	if err != nil {
		return err
	}
	defer undo.Close()
	log, err := os.OpenFile(audit, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	o := sandbox.Options{FS: fsaccess.NewJournal(folder, undo, fsaccess.JournalOptions{}), Policy: p, Audit: sandbox.NewAudit(log)}
	o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{}))
	out := &terminal{w: os.Stdout}
	var in *typed
	if person := !headless && atTerminal(os.Stdin); person || len(requests) == 0 {
		in = newTyped(os.Stdin)
		if a := (&asker{out: out, in: in}); person {
			o.Ask = sandbox.AskFunc(func(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) { return a.ask(p) })
		}
	}
	box, err := sandbox.New(o)
	if err != nil {
		return err
	}
	s, err := box.NewSession(ctx, sandbox.SessionOptions{Workspace: dir, Ephemeral: true})
	if err != nil {
		return err
	}
	defer s.Close()
	for _, text := range requests {
		if err := answer(ctx, box, s, m, out, text); err != nil {
			return err
		}
	}
	for len(requests) == 0 {
		if err := out.own("> "); err != nil {
			return err
		}
		text, err := in.line()
		if err != nil {
			return out.own("\n")
		}
		if err := answer(ctx, box, s, m, out, text); err != nil {
			return err
		}
	}
	return nil
}

// undoStore returns the folder for the journal of dir. It is in the user's cache directory, outside
// of the user's own files.
func undoStore(dir string) (*fsaccess.Folder, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	at := filepath.Join(cache, "bailey-headless", string(fsaccess.VersionOf([]byte(full))))
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, err
	}
	return fsaccess.OpenDir(at, fsaccess.DirOptions{})
}

// atTerminal reports whether a file is a terminal or another character device.
func atTerminal(f *os.File) bool {
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}

func answer(ctx context.Context, box *sandbox.Box, s *sandbox.Session, m sandbox.Model, out *terminal, text string) error {
	if _, err := s.Say(ctx, text); err != nil {
		return err
	}
	for chunk, err := range box.Run(ctx, s, m, sandbox.RunOptions{}) {
		switch {
		case err != nil:
			return err
		case chunk.Type == "text-delta":
			if _, err := io.WriteString(out, chunk.Delta); err != nil {
				return err
			}
		case chunk.Type == "text-end":
			if err := out.endLine(); err != nil {
				return err
			}
		case chunk.Type == "tool-input-available":
			if err := out.own(""); err != nil { // ends the line of the answer
				return err
			}
			fmt.Fprintln(os.Stderr, inLine("· "+chunk.ToolName))
		}
	}
	return nil
}
