package worker

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

// A package is unpacked, checked and hashed in pieces. Between two pieces the end of the context is
// noticed.
func TestPackageIsReadInPieces(t *testing.T) {
	z := makeZIP(t, decent(zipEntry{name: "b", data: strings.Repeat("a b", 8<<20/3)})...)
	limits := PackageLimits{Ratio: 2000}
	ctx := &until.Looks{Context: t.Context()}
	if _, err := ReadPackage(ctx, z, limits); err != nil {
		t.Fatal(err)
	}
	if ctx.N < 8<<20/(64<<10) {
		t.Errorf("%d looks for 8 MiB", ctx.N)
	}
	all := ctx.N
	for end := 1; end < all; end += 7 {
		ctx := &until.Looks{Context: t.Context(), End: end}
		if p, err := ReadPackage(ctx, z, limits); ctx.Ended() && (err == nil || p != nil) {
			t.Errorf("ended at look %d of about %d, and there is a package", end, all)
		}
	}
}
