package worker

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/internal/until"
)

// A package is unpacked, checked and hashed in pieces. Between two pieces the end of the context is
// noticed.
func TestPackageIsReadInPieces(t *testing.T) {
	native.Only(t)
	z := makeZIP(t, decent(zipEntry{name: "b", data: strings.Repeat("a b", 8<<20/3)})...)
	limits := PackageLimits{Ratio: 2000}
	ctx := &until.Looks{Context: t.Context()}
	if _, err := readPackage(ctx, z, limits); err != nil {
		t.Fatal(err)
	}
	if ctx.N < 8<<20/(64<<10) {
		t.Errorf("%d looks for 8 MiB", ctx.N)
	}
	all := ctx.N
	for end := 1; end < all; end += 7 {
		ctx := &until.Looks{Context: t.Context(), End: end}
		if p, err := readPackage(ctx, z, limits); ctx.Ended() && (err == nil || p != nil) {
			t.Errorf("ended at look %d of about %d, and there is a package", end, all)
		}
	}
}

// A module is read in pieces too. Between two pieces the end of the context is noticed.
func TestModuleIsReadInPieces(t *testing.T) {
	native.Only(t)
	const n = 500_000
	body := []byte{n&0x7f | 0x80, n>>7&0x7f | 0x80, n >> 14}
	for range n {
		body = append(body, 0x60, 0, 0)
	}
	size := len(body)
	wasm := append([]byte("\x00asm\x01\x00\x00\x00\x01"), byte(size&0x7f|0x80), byte(size>>7&0x7f|0x80), byte(size>>14&0x7f|0x80), byte(size>>21))
	wasm = append(wasm, body...)
	ctx := &until.Looks{Context: t.Context()}
	if _, err := parseModule(ctx, wasm); err != nil {
		t.Fatal(err)
	}
	all := ctx.N
	if all < len(wasm)/(64<<10) {
		t.Errorf("%d looks for %d bytes", all, len(wasm))
	}
	for end := 1; end < all; end++ {
		ctx := &until.Looks{Context: t.Context(), End: end}
		if m, err := parseModule(ctx, wasm); ctx.Ended() && (err == nil || m != nil) {
			t.Errorf("ended at look %d of about %d, and there is a module", end, all)
		}
	}
}
