package protocol_test

import (
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func BenchmarkPolicy(b *testing.B) {
	p, err := protocol.ParsePolicy(`{"filesystem":{"denyRead":["**/*.key","secrets",".env*"],"allowWrite":["src","docs/**/*.md"],"denyWrite":["src/vendor"]}}`, protocol.PolicyOptions{})
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
