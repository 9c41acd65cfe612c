//go:build js && wasm

// Agent is a page with a model that works in a folder. It asks before it changes a file, and each change
// can be undone. Without an address, provider.Commands answers plain requests such as "list the files".
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// The model. headers.json lists its host under "connect", or the page can't reach it.
const (
	address = "" // such as "http://localhost:11434/v1"
	model   = "" // such as "qwen3"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err) // the console and the page show it
	}
}

func run(ctx context.Context) error {
	parent, err := iframe.ElementByID("app")
	if err != nil {
		return err
	}
	view, err := iframe.NewDocument(ctx, parent, iframe.DocumentOptions{Follow: true})
	if err != nil {
		return err
	}
	work := fsaccess.NewJournal(folder(ctx, "files"), folder(ctx, "undo"), fsaccess.JournalOptions{})
	box, err := sandbox.New(sandbox.Options{
		FS:           work,
		Policy:       policy.AskBeforeChanges(),
		Ask:          newDialog(),
		Tools:        append(sandbox.Standard(), countWords()),
		SystemPrompt: "You work on the folder of the user, in their browser. Use the tools, and say briefly what you did.",
	})
	if err != nil {
		return err
	}
	session, err := box.NewSession(ctx, sandbox.SessionOptions{})
	if err != nil {
		return err
	}
	n := 0
	show := func(kind, label, text string) *iframe.Section {
		n++
		s := view.Section(fmt.Sprint(n))
		_ = s.SetKind(kind)
		_ = s.SetLabel(label)
		fmt.Fprint(s, text)
		return s
	}
	for text := range messages() {
		show("user", "You", text).Close()
		if _, err := session.Say(ctx, text); err != nil {
			return err
		}
		answer := show("assistant", "The model", "")
		for chunk, err := range box.Run(ctx, session, chosen(), sandbox.RunOptions{Tokens: 200_000}) {
			switch {
			case err != nil:
				fmt.Fprintf(answer, "\n\n**That did not work:** %v", err)
			case chunk.Type == sandbox.ChunkText:
				fmt.Fprint(answer, chunk.Delta)
			case chunk.Type == sandbox.ChunkBudget:
				reason, used := chunk.Budget()
				fmt.Fprintf(answer, "\n\n*%s after %d tokens.*", reason, used.Input+used.Output)
			}
		}
		answer.Close()
	}
	return nil
}

// folder returns a folder that the browser keeps for this page, or one in memory.
func folder(ctx context.Context, name string) *fsaccess.Folder {
	dir, err := fsaccess.OPFS(ctx, name)
	if err != nil {
		return fsaccess.NewMemory(fsaccess.MemoryOptions{})
	}
	return dir
}

// countWords returns a tool of this page's own. The user need not agree, because it only reads.
func countWords() sandbox.Tool {
	type args struct {
		Path string `json:"path" jsonschema:"the file, relative to the folder"`
	}
	return sandbox.Func("count_words", "Counts the words of a text file.",
		func(in args) []policy.Need { return sandbox.Reads(in.Path) },
		func(ctx context.Context, c *sandbox.Call, in args) (int, error) {
			text, _, err := c.FS.Read(ctx, c.Permit, in.Path)
			return len(strings.Fields(string(text))), err
		})
}

func chosen() sandbox.Model {
	if address == "" {
		return provider.Commands()
	}
	return provider.OpenAIChat(provider.Options{URL: address, Model: model})
}
