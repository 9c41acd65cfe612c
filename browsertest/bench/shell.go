package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// shellRow is a script of the page's shell. A loop has a budget. A script over 10 MB is compared with the machine's bash.
type shellRow struct{ id, script string }

var shellLoops = []shellRow{
	{"grep", `for i in $(seq 1000); do grep -c x f; done`},
	{"pipe", `for i in $(seq 1000); do echo $i | tr 0-9 a-j; done`},
	{"substitution", `for i in $(seq 1000); do x=$(basename /a/b/$i); done; echo $x`},
}

var shellFloods = []shellRow{
	{"grep", `grep -c 'line 1.*9' big`},
	{"sed", `sed 's/line/row/' big | wc -c`},
	{"sort", `sort big | tail -n 1`},
	{"tr", `tr a-z A-Z < big | wc -l`},
	{"wc", `wc big`},
}

func runShell(ctx context.Context, e *Env) ([]Row, error) {
	if _, err := e.Build(ctx, filepath.Join(e.Root, "browsertest"), "./bench/wasm", "conversions", "-tags=conversions"); err != nil {
		return nil, err
	}
	page, err := e.Open(ctx, "/sandbox.html")
	if err != nil {
		return nil, err
	}
	defer page.Close()
	if err := page.Call(ctx, "load", nil, "conversions"); err != nil {
		return nil, err
	}
	var rows []Row
	for _, r := range shellLoops {
		if !e.Wants("shell.loop." + r.id) {
			continue
		}
		s := samples{}
		if err := page.Call(ctx, "scripts", &s, e.Rounds(4), r.script); err != nil {
			return nil, err
		}
		rows = append(rows, newRow("shell.loop."+r.id, s.median("ours"), 10_000, "budget: 10 s for 1,000 commands", "ms", 1))
	}
	for _, r := range shellFloods {
		if !e.Wants("shell.10mb." + r.id) {
			continue
		}
		s := samples{}
		if err := page.Call(ctx, "scripts", &s, e.Rounds(4), r.script); err != nil {
			return nil, err
		}
		native, err := inBash(ctx, page, r.script)
		if err != nil {
			return nil, err
		}
		rows = append(rows, newRow("shell.10mb."+r.id, s.median("ours"), native+5, "the machine's bash and GNU tools on the same 10 MB, and 5 ms", "ms", 1.5))
	}
	return rows, nil
}

// inBash returns the milliseconds that the machine's bash takes, the best of three.
func inBash(ctx context.Context, page *Page, script string) (float64, error) {
	var big string
	if err := page.Call(ctx, "big", &big); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "shellbench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "big"), []byte(big), 0o600); err != nil {
		return 0, err
	}
	best := 0.0
	for range 3 {
		cmd := exec.CommandContext(ctx, "bash", "-c", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8")
		var out bytes.Buffer
		cmd.Stdout = &out
		began := time.Now()
		if err := cmd.Run(); err != nil {
			return 0, err
		}
		if took := float64(time.Since(began).Microseconds()) / 1000; best == 0 || took < best {
			best = took
		}
	}
	return best, nil
}
