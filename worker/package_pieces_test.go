package worker

import (
	"context"
	"strings"
	"testing"
)

// asked is a context that counts how often it is asked, and has ended from the call last on if last is set.
type asked struct {
	context.Context
	n, last int
}

func (a *asked) Err() error {
	if a.n++; a.last > 0 && a.n >= a.last {
		return context.Canceled
	}
	return a.Context.Err()
}

// A package is unpacked, checked and hashed in pieces, and its end is heeded between any two.
func TestPackageIsReadInPieces(t *testing.T) {
	z := makeZIP(t, decent(zipEntry{name: "b", data: strings.Repeat("a b", 8<<20/3)})...)
	limits := PackageLimits{Ratio: 2000}
	ctx := &asked{Context: t.Context()}
	if _, err := ReadPackage(ctx, z, limits); err != nil {
		t.Fatal(err)
	}
	if ctx.n < 8<<20/(64<<10) {
		t.Errorf("%d looks for 8 MiB", ctx.n)
	}
	for last := 1; last < ctx.n; last += 7 {
		if p, err := ReadPackage(&asked{Context: t.Context(), last: last}, z, limits); err == nil || p != nil {
			t.Errorf("ended at look %d of %d, and there is a package", last, ctx.n)
		}
	}
}
