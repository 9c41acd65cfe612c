package fsaccess

import (
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// A source without a dialogue needs no permission, in a browser and on a computer.
func TestPermissionWithoutDialogue(t *testing.T) {
	m := NewMemory(MemoryOptions{})
	for _, mode := range []Mode{ReadOnly, ReadWrite} {
		if err := m.CheckPermission(t.Context(), mode); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	r := newFolder(core.ReadOnly(m.c))
	if err := r.CheckPermission(t.Context(), ReadOnly); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := r.CheckPermission(t.Context(), ReadWrite); err != ErrReadOnly {
		t.Errorf("writing: %v", err)
	}
}
