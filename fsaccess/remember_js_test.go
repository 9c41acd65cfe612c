package fsaccess

import (
	"context"
	"testing"
)

// Two folders that are called alike are two: what is kept for one is not the other's.
func TestRememberAs(t *testing.T) {
	needOPFS(t)
	ctx := context.Background()
	a, b := opfs(t), opfs(t)
	for _, c := range []struct {
		f    *Folder
		want string
	}{{a, "notes"}, {b, "notes (2)"}, {a, "notes"}, {b, "notes (2)"}} {
		got, err := RememberAs(ctx, c.f, "notes")
		defer Forget(ctx, got)
		if err != nil || got != c.want {
			t.Errorf("%q, %v; want %q", got, err, c.want)
		}
	}
	again, err := Restore(ctx, "notes (2)")
	must(t, err)
	if got, err := RememberAs(ctx, again, "notes (2)"); got != "notes (2)" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
