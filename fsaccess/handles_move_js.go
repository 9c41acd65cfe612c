package fsaccess

import (
	"context"
	"errors"

	"github.com/bailey-go/bailey/internal/jsx"
)

func (h *handles) remove(ctx context.Context, name string) error {
	err := h.removeEntry(ctx, name, false)
	if errors.Is(err, errNotEmpty) && h.sweep(ctx, name) {
		err = h.removeEntry(ctx, name, false)
	}
	return err
}

// sweep removes swap files that a killed tab left in a folder that is otherwise empty. It
// reports whether the folder is empty now.
func (h *handles) sweep(ctx context.Context, name string) bool {
	_, names, _, err := h.children(ctx, name)
	if err != nil {
		return false
	}
	for _, n := range names {
		if !hiddenHere(n) {
			return false
		}
	}
	d, err := h.dir(ctx, name)
	for _, n := range names {
		if err == nil {
			_, err = await(ctx, d, "removeEntry", n)
		}
	}
	return err == nil
}

func (h *handles) removeAll(ctx context.Context, name string) error {
	return h.removeEntry(ctx, name, true)
}

func (h *handles) removeEntry(ctx context.Context, name string, recursive bool) error {
	if h.mode == ReadOnly {
		return ErrReadOnly
	}
	base, err := jsName(name)
	if err != nil {
		return err
	}
	release, err := h.live.hold(name)
	if err != nil {
		return err
	}
	defer release()
	err = h.in(ctx, parentOf(name), func(d jsx.Value) error {
		_, err := await(ctx, d, "removeEntry", base, map[string]any{"recursive": recursive})
		return err
	})
	h.forget(name)
	if err == nil {
		h.live.removed(name)
	}
	return err
}

// rename uses move() if the browser has it and the new name is free. Browsers differ in the
// effect of move() on an existing file.
func (h *handles) rename(ctx context.Context, from, to string) error {
	if h.mode == ReadOnly {
		return ErrReadOnly
	}
	defer h.forget(to)
	defer h.forget(from)
	release, err := h.live.hold(from)
	if err != nil {
		return err
	}
	defer release()
	over, err := h.live.hold(to)
	if err != nil {
		return err
	}
	defer over()
	place := h.live.park(from)
	if err := h.renameEntry(ctx, from, to); err != nil {
		place(from)
		return err
	}
	place(to)
	return nil
}

func (h *handles) renameEntry(ctx context.Context, from, to string) error {
	if ok, err := h.tryMove(ctx, from, to); ok || err != nil {
		return err
	}
	return copyRename(ctx, h, from, to)
}

func (h *handles) tryMove(ctx context.Context, from, to string) (moved bool, err error) {
	if !h.move {
		return false, nil
	}
	if _, _, err := h.entry(ctx, to); !notExist(err) {
		return false, nil
	}
	handle, isDir, err := h.entry(ctx, from)
	if err != nil {
		return false, err
	}
	if isDir {
		if !h.dmove || h.source != "opfs" {
			return false, nil
		}
		if handle, err = h.dir(ctx, from); err != nil {
			return false, err
		}
	}
	parent, err := h.dir(ctx, parentOf(to))
	if err != nil {
		return false, err
	}
	if h.source != "opfs" {
		// A symbolic link may have the name. The browser shows links to no page, and
		// Chromium never answers a move onto a link whose target is a file of a .git
		// folder. It makes no file in a link's place, so making one shows whether the name
		// is free.
		free, err := await(ctx, parent, "getFileHandle", baseOf(to), map[string]any{"create": true})
		if err != nil {
			return false, err
		}
		if made, err := await(ctx, free, "getFile"); err != nil {
			return false, err
		} else if size, err := numberOf(made, "size"); err != nil || size != 0 {
			return false, err // another program has just made it; replace it like any existing file
		}
		if _, err := await(ctx, parent, "removeEntry", baseOf(to)); err != nil {
			return false, err
		}
	}
	if _, err := await(ctx, handle, "move", parent, baseOf(to)); err != nil {
		if context.Cause(ctx) != nil {
			return false, err
		}
		// For any failure, copying is still possible, but only if move() has left the old
		// name alone.
		h.forget(from)
		if _, _, serr := h.entry(ctx, from); serr == nil {
			return false, nil
		}
		return false, err
	}
	return true, nil
}
