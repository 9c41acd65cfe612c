// Leaklab runs every vector of internal/leaklab in every layout and engine, and reports the sinks
// that each has reached. As root on Linux it runs in a network namespace of its own, in which every
// name resolves to a sink and every address is this machine. So no data of a vector leaves the
// machine.
//
//	ENGINE=chromium LAYOUT=compute go run ./cmd/leaklab
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/repo"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/leaklab"
)

// onRealm reports whether a layout tries attacks on the realm. They send nothing: their effect
// counts, and their control is the realm without its layers.
func onRealm(layout string) bool { return strings.HasPrefix(layout, "realm") }

const realmControl = "realm-open"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "leaklab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	layouts := leaklab.Layouts()
	pickedEngines, err := repo.Pick("ENGINE", cmp.Or(os.Getenv("ENGINE"), strings.Join(leaklab.Engines(), " ")), leaklab.Engines())
	if err != nil {
		return err
	}
	pickedLayouts, err := repo.Pick("LAYOUT", cmp.Or(os.Getenv("LAYOUT"), strings.Join(layouts, " ")), layouts)
	if err != nil {
		return err
	}
	l := &lab{root: root, out: filepath.Join(root, ".bin", "leaklab"), runner: filepath.Join(root, ".bin", "browsertest")}
	if os.Getenv(insideEnv) == "" {
		if err := l.build(ctx); err != nil {
			return err
		}
		if done, err := enterNamespace(ctx); done {
			return err
		} else if err != nil {
			fmt.Printf("No network namespace (%v): vectors phone addresses and not names, so lookups (DNS) are NOT watched in this run.\n", err)
		}
	} else {
		if l.dns, err = watchNames(); err != nil {
			return fmt.Errorf("the DNS sink: %w", err)
		}
		fmt.Println("In a network namespace: every name and every address is this machine.")
	}
	failed := false
	for _, engine := range pickedEngines {
		controls := map[string]row{}
		for _, layout := range layouts {
			control := layout == "plain" && slices.ContainsFunc(pickedLayouts, func(l string) bool { return !onRealm(l) }) ||
				layout == realmControl && slices.ContainsFunc(pickedLayouts, onRealm)
			if !control && !slices.Contains(pickedLayouts, layout) {
				continue
			}
			if !leaklab.Has(engine, layout) {
				fmt.Printf("%s %s: not run: %s does not know Connection-Allowlist\n", engine, layout, engine)
				continue
			}
			t, err := l.layout(ctx, engine, layout)
			if errors.Is(err, errAbsent) {
				fmt.Printf("%s %s: not run: %v\n", engine, layout, err)
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				// The other layouts are still run.
				fmt.Printf("%s %s: FAILED: %v\n", engine, layout, err)
				failed = true
				if control {
					break // nothing is proven without controls
				}
				continue
			}
			if control {
				controls = t.rows
			}
			t.judge(controls)
			l.tables = append(l.tables, t)
			if slices.Contains(pickedLayouts, layout) {
				t.print()
			}
			if why := t.defect(); why != "" {
				fmt.Printf("%s %s: DEFECT: %s\n", engine, layout, why)
				failed = true
			}
		}
	}
	if err := l.write(); err != nil {
		return err
	}
	fmt.Println("\nThe matrix:", filepath.Join(l.out, "index.html"))
	for _, t := range l.tables {
		if slices.Contains(pickedLayouts, t.layout) {
			fmt.Printf("%s %s vectors=%d ran=%d leaked=%d\n", t.engine, t.layout, len(t.rows), t.ran, len(t.leaked))
			if slices.Contains(leaklab.MustHold(t.engine), t.layout) { // for make attack
				fmt.Println(attack.Count{Suite: "leaks", Test: t.layout, Tried: len(t.rows), Controls: len(t.rows), Off: len(t.rows) - len(t.noControl), Succeeded: len(t.leaked)}.Line())
			}
		}
	}
	if failed {
		return errors.New("a layout that must hold leaked, a vector did not run, or a sink heard nothing: see the lines with DEFECT and FAILED")
	}
	return nil
}

// lab is one run.
type lab struct {
	root, out, runner string
	dns               *names // nil if lookups are not recorded
	tables            []*table
}

func (l *lab) binary() string { return filepath.Join(l.out, "iframe.test.wasm") }

// build compiles the program of the page, while there still is a network.
func (l *lab) build(ctx context.Context) error {
	if err := os.MkdirAll(l.out, 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-trimpath", "-c", "-o", l.binary(), "./iframe")
	cmd.Dir = l.root
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

var errAbsent = errors.New("the layout is absent")

// layout runs all vectors in one layout of an engine, and returns their table.
func (l *lab) layout(ctx context.Context, engine, layout string) (*table, error) {
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	rows, out, runErr := l.page(ctx, engine, layout, "")
	want := len(leaklab.All())
	if onRealm(layout) {
		want = len(rows) // their table is the page's own, and "done" marks its end
		if !strings.Contains(out, "done") {
			want++
		}
	}
	if len(rows) == want && layout != "plain" && layout != "single" {
		l.again(ctx, engine, layout, rows)
	}
	if l.dns != nil {
		l.dns.forget()
	}
	if len(rows) == 0 && strings.Contains(out, "--- SKIP") {
		return nil, fmt.Errorf("%w: %s", errAbsent, lastLines(out, 4))
	}
	if (runErr != nil && layout != realmControl) || len(rows) != want || want == 0 {
		return nil, fmt.Errorf("%d of %d vectors answered (%v):\n%s", len(rows), want, runErr, lastLines(out, 25))
	}
	return &table{engine: engine, layout: layout, rows: rows}, nil
}

// page runs the vectors whose ids begin with only, and returns their rows and the whole output.
func (l *lab) page(ctx context.Context, engine, layout, only string) (map[string]row, string, error) {
	cmd := repo.Command(ctx, l.runner, l.binary(), "-test.run=^TestLeakLab$", "-test.v", "-test.timeout=5m")
	cmd.Dir = filepath.Join(l.root, "iframe")
	cmd.Env = append(os.Environ(), "BROWSERTEST_ENGINE="+engine, "LEAKLAB="+layout, "LEAKLAB_ONLY="+only)
	if l.dns != nil {
		cmd.Env = append(cmd.Env, "LEAKLAB_DNS=1")
	}
	out, err := cmd.CombinedOutput()
	rows, parseErr := l.parse(layout, string(out))
	return rows, string(out), errors.Join(err, parseErr)
}

// maxAgain is the number of vectors that are tried again, because a busy machine may have kept them
// from starting.
const maxAgain = 8

// again runs those vectors a second time whose run ended before its first line. Data that reached a
// sink in either run counts. With more than maxAgain of them it does nothing.
func (l *lab) again(ctx context.Context, engine, layout string, rows map[string]row) {
	var late []string
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if r := rows[id]; !r.Ran && !r.Stopped {
			late = append(late, id)
		}
	}
	if len(late) > maxAgain {
		return
	}
	for _, id := range late {
		// After an error the row remains one that did not run.
		second, _, _ := l.page(ctx, engine, layout, id)
		for other, r := range second { // vectors with a longer id ran again too
			rows[other] = rows[other].and(r)
		}
		fmt.Printf("%s %s: %s did not start at first, tried again: ran=%v\n", engine, layout, id, second[id].Ran || second[id].Stopped)
	}
}

// parse returns the rows in the page's output, with the number of lookups of each vector's name.
func (l *lab) parse(layout, out string) (map[string]row, error) {
	rows := map[string]row{}
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		_, text, ok := strings.Cut(lines.Text(), "LEAKLAB {")
		if !ok {
			continue
		}
		var r row
		if err := json.Unmarshal([]byte("{"+text), &r); err != nil {
			return nil, err
		}
		if l.dns != nil {
			r.Lookups = l.dns.count(r.ID + "." + layout + ".")
		}
		rows[r.ID] = r
	}
	return rows, lines.Err()
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
