package shell_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// BenchmarkShell runs a thousand commands in a loop, and commands over 10 MB. It runs natively and in a page.
func BenchmarkShell(b *testing.B) {
	box, mem := build(b, open, sandboxtest.Always(policy.AnswerReject))
	must(b, mem.WriteFile("f", []byte("axb\nx\n"), 0o644))
	must(b, mem.MkdirAll("many", 0o755))
	for i := range 1000 {
		must(b, mem.WriteFile(fmt.Sprintf("many/%d", i), []byte(fmt.Sprintln(i)), 0o644))
	}
	var big bytes.Buffer
	for i := 0; big.Len() < 10_000_000; i++ {
		fmt.Fprintf(&big, "line %d of a text that is about as long as others\n", i*7919%1_000_003)
	}
	must(b, mem.WriteFile("big", big.Bytes(), 0o644))
	for _, script := range []string{
		`for i in $(seq 1000); do grep -c x f; done`,
		`for i in $(seq 1000); do echo $i | tr 0-9 a-j; done`,
		`for i in $(seq 1000); do x=$(basename /a/b/$i); done; echo $x`,
		`find many -type f -exec cat {} \;`,
		`for f in many/*; do sed -n 1p $f; done`,
		`for f in many/*; do [[ -f $f ]] && wc -l < $f; done`,
		`grep -c 'line 1.*9' big`,
		`sed 's/line/row/' big | wc -c`,
		`sort big | tail -n 1`,
		`cut -d' ' -f2 big | uniq | wc -l`,
		`tr a-z A-Z < big | wc -l`,
		`wc big`,
	} {
		b.Run(script, func(b *testing.B) {
			for b.Loop() {
				if out, code, err := run(b, box, script); err != nil || code != 0 {
					b.Fatalf("%.100q %d %v", out, code, err)
				}
			}
		})
	}
}
