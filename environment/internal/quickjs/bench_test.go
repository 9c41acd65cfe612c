package quickjs

import (
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func BenchmarkRun(b *testing.B) {
	r := runner(b, Options{Level: protocol.Standard})
	if err := r.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if res, err := r.RunCode(b.Context(), nil, `return 1`, nil); err != nil || !res.Success {
			b.Fatal(err, res)
		}
	}
}
