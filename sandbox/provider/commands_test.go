package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

var everyTool = func() (out []sandbox.ModelTool) {
	for _, id := range strings.Fields("read write edit glob grep bash todo web_search web_fetch code_run move delete mkdir diff undo") {
		out = append(out, sandbox.ModelTool{Name: id})
	}
	return out
}()

// first is the first call that commands make of a text, or "" and what they say.
func first(t *testing.T, text string) (call, said string) {
	t.Helper()
	r := sandbox.ModelRequest{Tools: everyTool, Messages: []sandbox.ModelMessage{{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: text}}}}}
	for e, err := range provider.Commands().Stream(context.Background(), r) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case sandbox.PartCall:
			var args any
			_ = json.Unmarshal(e.Args, &args)
			call += fmt.Sprintf("%s %s;", e.Tool, e.Args)
		case sandbox.PartText:
			said += e.Text
		}
	}
	return strings.TrimSuffix(call, ";"), said
}

func TestCommandsPhrasings(t *testing.T) {
	phrasings := map[string]string{
		"list the files":                        `glob {"pattern":"**"}`,
		"ls":                                    `glob {"pattern":"**"}`,
		"Please show me the files.":             `glob {"pattern":"**"}`,
		"what is in the folder":                 `glob {"pattern":"**"}`,
		"which files are there?":                `glob {"pattern":"**"}`,
		"what's here?":                          `glob {"pattern":"**"}`,
		"list the files in notes":               `glob {"path":"notes","pattern":"**"}`,
		"ls notes/":                             `glob {"path":"notes","pattern":"**"}`,
		"dir":                                   `glob {"pattern":"**"}`,
		"find *.md":                             `glob {"pattern":"**/*.md"}`,
		"list all *.go files in src":            `glob {"path":"src","pattern":"**/*.go"}`,
		"show me all pdf files":                 `glob {"pattern":"**/*.pdf"}`,
		"find notes.md":                         `glob {"pattern":"**/notes.md"}`,
		"locate the file a.txt":                 `glob {"pattern":"**/a.txt"}`,
		"list markdown files":                   `glob {"pattern":"**/*.md"}`,
		"how many files are there":              `glob {"pattern":"**"}`,
		"count the files in src":                `glob {"path":"src","pattern":"**"}`,
		"show notes.md":                         `read {"path":"notes.md"}`,
		"read the file notes.md":                `read {"path":"notes.md"}`,
		"cat 'my notes.md'":                     `read {"path":"my notes.md"}`,
		"open notes/a.md":                       `read {"path":"notes/a.md"}`,
		"what is in notes.md?":                  `read {"path":"notes.md"}`,
		"what does notes.md say":                `read {"path":"notes.md"}`,
		"show the contents of notes.md":         `read {"path":"notes.md"}`,
		"display \"a b.txt\"":                   `read {"path":"a b.txt"}`,
		"show the first 5 lines of a.txt":       `read {"path":"a.txt"}`,
		"head -n 3 a.txt":                       `read {"path":"a.txt"}`,
		"tail a.txt":                            `read {"path":"a.txt"}`,
		"last 2 lines of a.txt":                 `read {"path":"a.txt"}`,
		"how many lines has a.txt":              `read {"path":"a.txt"}`,
		"count the words in a.txt":              `read {"path":"a.txt"}`,
		"wc a.txt":                              `read {"path":"a.txt"}`,
		"search for TODO in src":                `grep {"path":"src","pattern":"TODO"}`,
		"grep \"a.b\"":                          `grep {"pattern":"a\\.b"}`,
		"which files contain milk":              `grep {"pattern":"milk"}`,
		"find 'two words' in notes":             `grep {"path":"notes","pattern":"two words"}`,
		"where is main used?":                   `grep {"pattern":"main"}`,
		"look for cheese in all files":          `grep {"pattern":"cheese"}`,
		"replace one with two in a.txt":         `read {"path":"a.txt"}`,
		"change 'a b' to 'c d' in x/y.txt":      `read {"path":"x/y.txt"}`,
		"add \"buy milk\" to list.txt":          `read {"path":"list.txt"}`,
		"append hello world to notes.md":        `read {"path":"notes.md"}`,
		"create notes.md with \"hello\"":        `glob {"pattern":"**/notes.md"}`,
		"write \"hello\" into notes.md":         `glob {"pattern":"**/notes.md"}`,
		"create a file called a.txt saying hi":  `glob {"pattern":"**/a.txt"}`,
		"make a new file todo.txt":              `glob {"pattern":"**/todo.txt"}`,
		"touch a.txt":                           `glob {"pattern":"**/a.txt"}`,
		"make a folder named old":               `mkdir {"path":"old"}`,
		"mkdir a/b":                             `mkdir {"path":"a/b"}`,
		"create the directory x":                `mkdir {"path":"x"}`,
		"rename a.txt to b.txt":                 `move {"from":"a.txt","to":"b.txt"}`,
		"move a.txt to old":                     `move {"from":"a.txt","to":"old/a.txt"}`,
		"move a.txt into the folder old/":       `move {"from":"a.txt","to":"old/a.txt"}`,
		"mv a.txt b.txt":                        `move {"from":"a.txt","to":"b.txt"}`,
		"move all *.txt to old":                 `glob {"pattern":"*.txt"}`,
		"delete a.txt":                          `delete {"path":"a.txt"}`,
		"could you please remove the folder x?": `delete {"path":"x"}`,
		"rm -rf x":                              `delete {"path":"x"}`,
		"get rid of a.txt":                      `delete {"path":"a.txt"}`,
		"delete all *.tmp":                      `glob {"pattern":"*.tmp"}`,
		"copy a.txt to b.txt":                   `read {"path":"a.txt"}`,
		"duplicate a.txt as c.txt":              `read {"path":"a.txt"}`,
		"organise the files by type":            `glob {"pattern":"*"}`,
		"tidy up my files":                      `glob {"pattern":"*"}`,
		"undo":                                  `undo {}`,
		"take that back":                        `undo {}`,
		"undo the last change":                  `undo {}`,
		"what changed?":                         `diff {}`,
		"show me the last change":               `diff {}`,
		"compare a.txt with b.txt":              `diff {"a":"a.txt","b":"b.txt"}`,
		"the difference between a.txt and b":    `diff {"a":"a.txt","b":"b"}`,
		"run ls | wc -l":                        `bash {"command":"ls | wc -l"}`,
		"calculate 6 * 7":                       `code_run {"code":"return 6 * 7"}`,
		"javascript: return 1":                  `code_run {"code":"return 1"}`,
		"fetch https://example.com/a":           `web_fetch {"url":"https://example.com/a"}`,
		"search the web for Go iterators":       `web_search {"query":"Go iterators"}`,
		"remember to buy milk":                  `todo {"todos":[{"content":"buy milk","status":"pending"}]}`,
	}
	if len(phrasings) < 60 {
		t.Errorf("%d phrasings are tried; there must be 60", len(phrasings))
	}
	for text, want := range phrasings {
		if got, said := first(t, text); got != want {
			t.Errorf("%q: %s %s; want %s", text, got, said, want)
		}
	}
}

func TestCommandsSayWhatTheyDoNotUnderstand(t *testing.T) {
	for _, text := range []string{"write me a poem about rain and the sea", "why is the sky blue?", "", "délicieux"} {
		if call, said := first(t, text); call != "" || !strings.Contains(said, "no model") || !strings.Contains(said, "rename a.txt to b.txt") {
			t.Errorf("%q: %s %s", text, call, said)
		}
	}
}

// The reason of a failure is shown in the words for users, without the words for models.
func TestCommandsSayWhyACallFailed(t *testing.T) {
	for text, want := range map[string]string{
		"error not allowed (rejected): call delete: the user declined": "- delete: the user declined\n",
		"error execution failed: a.txt: there is nothing":              "- delete: a.txt: there is nothing\n",
		"error without a reason":                                       "- delete: error without a reason\n",
	} {
		r := sandbox.ModelRequest{Tools: everyTool, Messages: []sandbox.ModelMessage{
			{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "delete a.txt"}}},
			{Role: sandbox.RoleAssistant, Parts: []sandbox.ModelPart{{Type: sandbox.PartCall, CallID: "1", Tool: "delete"}}},
			{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartResult, CallID: "1", Tool: "delete", Text: text, Failed: true}}},
		}}
		said := ""
		for e, err := range provider.Commands().Stream(context.Background(), r) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == sandbox.PartText {
				said += e.Text
			}
		}
		if said != "That did not go well:\n"+want {
			t.Errorf("%q: said %q", text, said)
		}
	}
}
