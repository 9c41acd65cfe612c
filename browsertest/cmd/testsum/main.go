// Command testsum reads the output of "go test -json" and prints a summary: a line for each
// package, all output of each failed test, and at the end the slowest tests, and the number of
// skipped ones with their reasons. It exits with 1 if anything failed.
//
//	go test -json ./... | testsum
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	ok, err := sum(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// event is a line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// place matches the position at the beginning of a test's log line, before the text.
var place = regexp.MustCompile(`^\s+\S+\.go:\d+: `)

func sum(r io.Reader, w io.Writer) (ok bool, err error) {
	type test struct{ pkg, name string }
	said := map[test]*strings.Builder{}
	skipped := map[string]int{}
	var times []timed
	ok = true
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line == "" && err == io.EOF {
			break
		} else if err != nil && err != io.EOF {
			return false, err
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
			fmt.Fprint(w, line) // of the go command itself
			continue
		}
		of := test{e.Package, e.Test}
		if e.Test != "" && !strings.Contains(e.Test, "/") && e.Elapsed >= slow {
			times = append(times, timed{e.Elapsed, e.Package, e.Test})
		}
		switch e.Action {
		case "output":
			if said[of] == nil {
				said[of] = &strings.Builder{}
			}
			said[of].WriteString(e.Output)
		case "build-output":
			fmt.Fprint(w, e.Output)
		case "build-fail":
			ok = false
		case "fail":
			ok = false
			// If a program ends in the middle of a test, there is no event for the end of that
			// test.
			for _, t := range slices.SortedFunc(maps.Keys(said), func(a, b test) int { return strings.Compare(b.name, a.name) }) {
				if t == of || e.Test == "" && t.pkg == e.Package {
					fmt.Fprint(w, said[t])
					delete(said, t)
				}
			}
		case "pass", "skip":
			if e.Test == "" {
				if e.Action == "pass" {
					fmt.Fprintf(w, "ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
				}
			} else if e.Action == "skip" {
				skipped[reason(said[of])]++
			}
			delete(said, of)
		}
	}
	slowest(w, times)
	report(w, skipped)
	return ok, nil
}

// timed is a test that took at least slow seconds. The function slowest prints the most slowest of
// them.
type timed struct {
	seconds   float64
	pkg, name string
}

const (
	slow = 2.0
	most = 15
)

func slowest(w io.Writer, times []timed) {
	slices.SortFunc(times, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	for i, t := range times[:min(len(times), most)] {
		if i == 0 {
			fmt.Fprintln(w, "slowest:")
		}
		fmt.Fprintf(w, "  %6.1f s  %s %s\n", t.seconds, t.pkg, t.name)
	}
}

// reason returns the last log line of a skipped test, "no reason" without one.
func reason(said *strings.Builder) string {
	if said == nil {
		return "no reason"
	}
	found := "no reason"
	for line := range strings.Lines(said.String()) {
		if at := place.FindString(line); at != "" {
			found = strings.TrimSpace(line[len(at):])
		}
	}
	return found
}

func report(w io.Writer, skipped map[string]int) {
	n, reasons := 0, []string{}
	for why, count := range skipped {
		n += count
		reasons = append(reasons, why)
	}
	slices.SortFunc(reasons, func(a, b string) int { return cmp.Or(skipped[b]-skipped[a], strings.Compare(a, b)) })
	fmt.Fprintf(w, "skipped: %d\n", n)
	for _, why := range reasons {
		fmt.Fprintf(w, "  %3d  %s\n", skipped[why], why)
	}
}
