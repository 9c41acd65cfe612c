package journal

import (
	"errors"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// A record that came from elsewhere must not lead out of the folder.
func TestForgedRecordsAreRefused(t *testing.T) {
	for _, p := range []string{"../x", "/etc/passwd", "a//b", "a/../b", "", "a\x00b"} {
		r := &record{Seq: 1, Group: 1, Op: "write", Effects: []effect{{Path: p}}}
		data, err := r.encode(nil)
		must(t, err)
		if _, err := decodeRecord(data); !errors.Is(err, core.ErrCorrupt) {
			t.Errorf("%q: %v", p, err)
		}
	}
}

func FuzzDecodeRecord(f *testing.F) {
	r := &record{Seq: 1, Group: 1, Op: "write", Effects: []effect{{Path: "a/b", Before: state{"file", core.HashOf(nil), 3, 0o644}}}}
	data, _ := r.encode(map[string][]byte{core.HashOf([]byte("abc")): []byte("abc")})
	f.Add(data)
	f.Add([]byte(recordMagic + " x 1\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRecord(data)
		if err != nil {
			if !errors.Is(err, core.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		for _, in := range r.Inline {
			if off := r.offset[in.Hash]; off < 0 || off+in.Size > int64(len(data)) {
				t.Fatalf("an inline content at %d of %d bytes", off, len(data))
			}
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
