package fsaccess

import (
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// A source without a dialogue needs no permission, in a browser and on a computer.
func TestPermissionWithoutDialogue(t *testing.T) {
	m := NewMemory(MemoryOptions{})
	for _, mode := range []Mode{ReadOnly, ReadWrite} {
		if p, err := m.Permission(t.Context(), mode); err != nil || p != Granted {
			t.Errorf("%s: %v, %v", mode, p, err)
		}
	}
	r := newFolder(core.ReadOnly(m.c))
	if p, err := r.Permission(t.Context(), ReadOnly); err != nil || p != Granted {
		t.Errorf("reading: %v, %v", p, err)
	}
	if p, err := r.Permission(t.Context(), ReadWrite); err != nil || p != Denied {
		t.Errorf("writing: %v, %v", p, err)
	}
}
