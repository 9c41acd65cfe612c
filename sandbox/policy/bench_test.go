package policy_test

import (
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func BenchmarkPolicy(b *testing.B) {
	p, err := policy.Read(`{"filesystem":{"denyRead":["**/*.key","secrets",".env*"],"allowWrite":["src","docs/**/*.md"],"denyWrite":["src/vendor"]}}`, policy.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := p.FS.Check(protocol.OpWrite, "src/some/where/deep/file.go"); err != nil {
			b.Fatal(err)
		}
	}
}
