package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
)

// worse is the factor above which a row counts as worse than before.
const worse = 1.05

// against runs the suites of prefix by turns in another commit of the repository and in the present tree, rounds times each, and prints
// both sides' medians. The error names the rows that are worse than in that commit.
//
// Each side runs its own suites, so a row that one of them lacks, or measures against another peer, is left out.
func against(ctx context.Context, root, commit, prefix string, rounds int, w io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "bailey-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "tree")
	if err := command(ctx, root, "git", "worktree", "add", "--quiet", "--detach", tree, commit); err != nil {
		return fmt.Errorf("%w (is %q a commit of this repository?)", err, commit)
	}
	defer func() {
		// ctx may have ended, and the tree has to go even then.
		err = errors.Join(err, command(context.WithoutCancel(ctx), root, "git", "worktree", "remove", "--force", tree))
	}()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	theirs := filepath.Join(tree, "bench", "results.json")
	var before, now [][]Row
	for round := range rounds {
		// The file of the commit holds its own, older rows.
		if err := os.Remove(theirs); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := command(ctx, tree, "make", "--silent", "bench", "BENCH="+prefix, "BASE="); err != nil {
			return fmt.Errorf("round %d at %s: %w", round+1, commit, err)
		}
		rows, err := readRows(theirs)
		if err != nil {
			return err
		}
		before = append(before, rows)
		ours := filepath.Join(dir, fmt.Sprint(round, ".json"))
		if err := command(ctx, filepath.Join(root, "browsertest"), self, "-run", prefix, "-base", "", "-o", ours); err != nil {
			return fmt.Errorf("round %d of this tree: %w", round+1, err)
		}
		if rows, err = readRows(ours); err != nil {
			return err
		}
		now = append(now, rows)
	}
	return report(w, compare(medians(before), medians(now)))
}

func command(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %v: %w", filepath.Base(name), args, err)
	}
	return nil
}

// key names a comparison across runs.
type key struct{ id, peer string }

// medians returns for each comparison that all runs have the medians of its figures, in the order of the first run.
func medians(runs [][]Row) []Row {
	if len(runs) == 0 {
		return nil
	}
	ours, theirs := map[key][]float64{}, map[key][]float64{}
	for _, rows := range runs {
		for _, r := range rows {
			k := key{r.ID, r.Peer}
			ours[k], theirs[k] = append(ours[k], r.Ours), append(theirs[k], r.Theirs)
		}
	}
	var all []Row
	for _, r := range runs[0] {
		if k := (key{r.ID, r.Peer}); len(ours[k]) == len(runs) {
			r.Ours, r.Theirs = median(ours[k]), median(theirs[k])
			r.Ratio = round(r.Ours / r.Theirs)
			all = append(all, r)
		}
	}
	return all
}

// change is a comparison that was made twice.
type change struct {
	before, now Row
}

// factors returns how much worse our own figure and the ratio are than before: 1.1 is a tenth worse, also where higher is better.
func (c change) factors() (ours, ratio float64) {
	ours, ratio = c.now.Ours/c.before.Ours, c.now.Ratio/c.before.Ratio
	if c.now.HigherIsBetter {
		return 1 / ours, 1 / ratio
	}
	return ours, ratio
}

// worse is whether both our own figure and the ratio are. A figure alone may be the machine's, and a ratio alone the peer's.
func (c change) worse() bool {
	ours, ratio := c.factors()
	return ours > worse && ratio > worse
}

// compare pairs the rows of two runs.
func compare(before, now []Row) []change {
	old := map[key]Row{}
	for _, r := range before {
		old[key{r.ID, r.Peer}] = r
	}
	var all []change
	for _, r := range now {
		if b, ok := old[key{r.ID, r.Peer}]; ok && b.Ours != 0 && b.Ratio != 0 && b.Unit == r.Unit && b.HigherIsBetter == r.HigherIsBetter {
			all = append(all, change{b, r})
		}
	}
	return all
}

// report prints a line for each change. The error counts those that are worse.
func report(w io.Writer, changes []change) error {
	if len(changes) == 0 {
		fmt.Fprintln(w, "no row was measured before and now")
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\tbefore\tnow\tunit\tfactor\tratio before\tnow\tfactor\t\tpeer")
	n := 0
	for _, c := range changes {
		verdict := ""
		if c.worse() {
			verdict = "WORSE"
			n++
		}
		ours, ratio := c.factors()
		fmt.Fprintf(t, "%s\t%v\t%v\t%s\t%.2f\t%v\t%v\t%.2f\t%s\t%s\n",
			c.now.ID, c.before.Ours, c.now.Ours, c.now.Unit, ours, c.before.Ratio, c.now.Ratio, ratio, verdict, c.now.Peer)
	}
	t.Flush()
	if n > 0 {
		return fmt.Errorf("%d of %d rows are worse than %v of before, by their own figure and by the ratio", n, len(changes), worse)
	}
	return nil
}
