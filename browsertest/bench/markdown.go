package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	chunksOf20k = 1500
	// aFrame is the number of chunks between two animation frames: a quick model's 300 a second at
	// 60 Hz.
	aFrame = 5
)

// samples are the measurements by contender, one for each round.
type samples map[string][]float64

func (s samples) median(name string) float64 { return median(s[name]) }

func runMarkdown(ctx context.Context, e *Env) ([]Row, error) {
	marked, err := e.Peer("marked")
	if err != nil {
		return nil, err
	}
	dompurify, err := e.Peer("dompurify")
	if err != nil {
		return nil, err
	}
	peer := marked + " + " + dompurify
	if _, err := e.Build(ctx, filepath.Join(e.Root, "browsertest"), "./bench/wasm", "bench"); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(e.Root, "examples", "markdown", "answers", "bench20k.md"))
	if err != nil {
		return nil, err
	}
	page, err := e.Open(ctx, "/markdown.html")
	if err != nil {
		return nil, err
	}
	defer page.Close()
	if err := page.Call(ctx, "prepare", nil, string(text), long(string(text), 10), chunksOf20k); err != nil {
		return nil, err
	}

	var rows []Row
	if e.Wants("markdown.oneshot.20k") {
		s := samples{}
		if err := page.Call(ctx, "oneshot", &s, e.Rounds(60)); err != nil {
			return nil, err
		}
		const id = "markdown.oneshot.20k"
		rows = append(rows,
			newRow(id, s.median("ours"), s.median("peer"), peer, "ms", 1.2),
			newRow(id, s.median("ours"), s.median("floor"), "floor: innerHTML alone", "ms", 0))
	}
	if e.Wants("markdown.stream.20k.1500") || e.Wants("markdown.stream.worst_chunk") {
		const id = "markdown.stream.20k.1500"
		frame, chunk, naive := samples{}, samples{}, samples{}
		if err := page.Call(ctx, "stream", &frame, e.Rounds(24), aFrame); err != nil {
			return nil, err
		}
		if err := page.Call(ctx, "stream", &chunk, e.Rounds(24), 1); err != nil {
			return nil, err
		}
		if err := page.Call(ctx, "naive", &naive, e.Rounds(3)); err != nil {
			return nil, err
		}
		each := fmt.Sprintf(", by finished block, painted once a frame of %d chunks", aFrame)
		rows = append(rows,
			newRow(id, frame.median("ours"), frame.median("peer"), peer+each, "ms", 1.5),
			newRow(id, chunk.median("ours"), chunk.median("peer"), peer+", by finished block, painted after each chunk", "ms", 1.5),
			newRow(id, naive.median("ours"), naive.median("peer"), peer+", the whole text again after each chunk", "ms", 0.05),
			newRow(id, frame.median("ours"), frame.median("floor"), "floor: innerHTML of each finished block alone", "ms", 0),
			newRow("markdown.stream.worst_chunk", chunk.median("ours worst"), 4, "budget of 4 ms", "ms", 1),
			newRow("markdown.stream.worst_chunk", chunk.median("ours worst"), chunk.median("peer worst"), peer+", by finished block", "ms", 0))
	}
	if e.Wants("markdown.stream.200k") {
		s := samples{}
		if err := page.Call(ctx, "linear", &s, e.Rounds(8), aFrame); err != nil {
			return nil, err
		}
		rows = append(rows, newRow("markdown.stream.200k", s.median("ours 200k"), s.median("ours 20k"), "ours, 20 KB", "ms", 12),
			newRow("markdown.stream.200k", s.median("ours 200k"), s.median("peer 200k"), peer+", by finished block", "ms", 0))
	}
	return rows, nil
}

// label matches the label of a reference or a note, where it is used or defined.
var label = regexp.MustCompile(`\[(\^?[a-z]+)\]`)

// long returns text repeated n times. References and notes are numbered, so that no two repetitions
// define the same label. The result is the same on every machine.
func long(text string, n int) string {
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\[(\^?[a-z]+)\]:`).FindAllStringSubmatch(text, -1) {
		defined[m[1]] = true
	}
	var b strings.Builder
	for i := range n {
		b.WriteString(label.ReplaceAllStringFunc(text, func(s string) string {
			m := label.FindStringSubmatch(s)
			if !defined[m[1]] {
				return s
			}
			return "[" + m[1] + "-" + strconv.Itoa(i) + "]"
		}))
		b.WriteString("\n\n")
	}
	return b.String()
}
