package fsaccess

import (
	"bytes"
	"context"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

// The hash of a large content is made in pieces, with turns for the page, and ends with the context; it is the same hash.
func TestVersionsRest(t *testing.T) {
	for _, size := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 8 << 20} {
		data := bytes.Repeat([]byte("v"), size)
		ctx := &until.Looks{Context: context.Background()}
		if v, err := versionIn(ctx, data); err != nil || v != VersionOf(data) {
			t.Errorf("%d bytes: %v, %v", size, v, err)
		}
		if ctx.N < size/(256<<10)-1 {
			t.Errorf("%d bytes: %d looks", size, ctx.N)
		}
	}
	data := bytes.Repeat([]byte("v"), 8<<20)
	end := &until.Looks{Context: context.Background(), End: 3}
	if _, err := versionIn(end, data); err == nil || end.N > 3+4 {
		t.Errorf("%d looks, the end was at 3: %v", end.N, err)
	}
	// A written file has a version, even if its context ends at that moment.
	m := NewMemory(MemoryOptions{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if v, err := WithContext(ctx, m).WriteVersion("a", data, 0o644, Absent); err != nil || v != VersionOf(data) {
		t.Errorf("%v, %v", v, err)
	}
	if got, v, err := WithContext(t.Context(), m).ReadVersion("a"); err != nil || v != VersionOf(data) || !bytes.Equal(got, data) {
		t.Errorf("%v, %v", v, err)
	}
	stop()
	if _, _, err := WithContext(ctx, m).ReadVersion("a"); err == nil {
		t.Error("a read whose context has ended gives a version")
	}
}
