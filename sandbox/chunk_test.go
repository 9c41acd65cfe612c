package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// This example shows a stream as an app does: text as it comes, results, and how the run ended.
func ExampleChunkType() {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	box, _ := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges()})
	ctx := context.Background()
	session, _ := box.NewSession(ctx, sandbox.SessionOptions{})
	defer session.Close()
	_, _ = session.Say(ctx, "which files are there?")
	model := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		{Text: "I look. ", Calls: []sandbox.ToolCall{{Tool: "glob", Args: map[string]any{"pattern": "**"}}}, Usage: sandbox.Usage{Input: 900, Output: 200}},
		sandboxtest.Say("None."),
	}}
	for chunk, err := range box.Run(ctx, session, model, sandbox.RunOptions{Tokens: 1000}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch chunk.Type {
		case sandbox.ChunkText:
			fmt.Print(chunk.Delta)
		case sandbox.ChunkToolOutput:
			fmt.Print("[done] ")
		case sandbox.ChunkBudget:
			reason, used := chunk.Budget()
			fmt.Println(reason, used.Input+used.Output)
		}
	}
	// Output: I look. [done] the run's budget of tokens is used up 1100
}

// The data of each chunk is the same before and after JSON.
func TestChunkData(t *testing.T) {
	for _, c := range []struct {
		chunk sandbox.Chunk
		get   func(c sandbox.Chunk) string
		want  string
	}{
		{sandbox.Chunk{Type: sandbox.ChunkStopped, Data: map[string]any{"done": []string{"read a", "edit b"}}}, func(c sandbox.Chunk) string { return fmt.Sprintln(c.Stopped()) }, "[read a edit b]"},
		{sandbox.Chunk{Type: sandbox.ChunkBudget, Data: map[string]any{"reason": "r", "usage": sandbox.Usage{Input: 3, Output: 4}}}, func(c sandbox.Chunk) string { return fmt.Sprintln(c.Budget()) }, "r {3 4 0 0}"},
		{sandbox.Chunk{Type: sandbox.ChunkRetry, Data: map[string]any{"attempt": 2, "after_ms": 1500.0, "reason": "r", "drop": []string{"p"}}}, func(c sandbox.Chunk) string { return fmt.Sprintln(c.Retry()) }, "2 1.5s r [p]"},
		{sandbox.Chunk{Type: sandbox.ChunkKept, Data: map[string]any{"toolCallId": "c", "kept": []string{"k"}}}, func(c sandbox.Chunk) string { return fmt.Sprintln(c.Kept()) }, "c [k]"},
		{sandbox.Chunk{Type: sandbox.ChunkCompaction, ID: "m", Data: map[string]any{"messages": float64(7), "summary": "s"}}, func(c sandbox.Chunk) string { return fmt.Sprintln(c.Compaction()) }, "7 s"},
		{sandbox.Chunk{Type: sandbox.ChunkShortened, Data: map[string]any{"tokens": float64(9)}}, func(c sandbox.Chunk) string { return fmt.Sprintln(c.Shortened()) }, "9"},
		{sandbox.Chunk{Type: sandbox.ChunkSteer, ID: "m", Data: map[string]any{"text": "t"}}, func(c sandbox.Chunk) string { return c.Steer() }, "t"},
		{sandbox.Chunk{Type: sandbox.ChunkFilesRefused, Data: map[string]any{"reason": "r"}}, func(c sandbox.Chunk) string { return c.FilesRefused() }, "r"},
		{sandbox.Chunk{Type: sandbox.ChunkApproval, Data: map[string]any{"toolCallId": "c"}}, func(c sandbox.Chunk) string { return fmt.Sprintln(c.Approval()) }, "c false false"},
		{sandbox.Chunk{Type: sandbox.ChunkApproval, Data: map[string]any{"toolCallId": "c", "approved": true}}, func(c sandbox.Chunk) string { return fmt.Sprintln(c.Approval()) }, "c true true"},
	} {
		text, err := json.Marshal(c.chunk)
		must(t, err)
		var raw struct{ Data any }
		must(t, json.Unmarshal(text, &raw))
		again := sandbox.Chunk{Type: c.chunk.Type, Data: raw.Data}
		if a, b := strings.TrimSpace(c.get(c.chunk)), strings.TrimSpace(c.get(again)); a != c.want || b != c.want {
			t.Errorf("%s: %q, after JSON %q, not %q", c.chunk.Type, a, b, c.want)
		}
		other := sandbox.Chunk{Type: "text-delta", Data: c.chunk.Data}
		if a, b := c.get(other), c.get(sandbox.Chunk{}); a != b {
			t.Errorf("%s: %q of a chunk of another type", c.chunk.Type, a)
		}
	}
}

// The comment of ChunkType lists each type that the package emits.
func TestChunkTypesAreListed(t *testing.T) {
	list, err := os.ReadFile("chunk.go")
	must(t, err)
	comment, _, ok := strings.Cut(string(list), "// MarshalJSON")
	if !ok {
		t.Fatal("chunk.go has another form")
	}
	var found []string
	for _, m := range regexp.MustCompile(`(?m)^\tcase ("[a-z", -]+"):$`).FindAllStringSubmatch(string(list), -1) {
		for _, name := range strings.Split(m[1], ", ") {
			found = append(found, strings.Trim(name, `"`))
		}
	}
	if len(found) < 20 {
		t.Fatalf("only %q were found", found)
	}
	for _, name := range found {
		if !slices.Contains([]string{"text", "reasoning", "tool", "file", "source"}, name) && !regexp.MustCompile(`[\t, ]`+name+`[\s,]`).MatchString(comment) {
			t.Errorf("the comment of ChunkType does not list %s", name)
		}
	}
}
