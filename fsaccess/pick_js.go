package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
)

func pick(ctx context.Context, mode Mode, o PickOptions) (*Folder, error) {
	if !jsx.Supported("showDirectoryPicker") {
		return nil, fmt.Errorf("this browser has no folder dialogue; use OPFS, Upload or a DropZone: %w", errors.ErrUnsupported)
	}
	q, err := pickQuestion(mode, o)
	if err != nil {
		return nil, err
	}
	handle, err := show(ctx, "showDirectoryPicker", q)
	if err != nil {
		return nil, err
	}
	name, err := stringOf(handle, "name")
	if err != nil {
		return nil, err
	}
	f, err := newHandles(handle, "picked", mode, "picked:"+name)
	if err == nil && o.Remember != "" {
		err = remember(ctx, f, o.Remember)
	}
	return f, err
}

func pickQuestion(mode Mode, o PickOptions) (map[string]any, error) {
	if mode != ReadOnly && mode != ReadWrite {
		return nil, fmt.Errorf("mode %q: %w", mode, errInvalid)
	}
	q := map[string]any{"mode": string(mode)}
	if o.ID != "" {
		if len(o.ID) > 32 || strings.Trim(o.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return nil, fmt.Errorf("id %q: at most 32 letters, digits, - and _: %w", o.ID, errInvalid)
		}
		q["id"] = o.ID
	}
	if o.StartIn != "" {
		q["startIn"] = o.StartIn
	}
	return q, nil
}

// show calls a dialogue of the browser. The dialogue's promise cannot be cancelled, so
// after ctx ends the dialogue stays open until the user closes it.
func show(ctx context.Context, dialogue string, q map[string]any) (jsx.Value, error) {
	v, err := jsx.CallAwait(ctx, jsx.Global(), dialogue, q)
	if err == nil {
		return v, nil
	}
	if cerr := context.Cause(ctx); cerr != nil {
		return v, cerr
	}
	var e *jsx.Error
	if errors.As(err, &e) {
		switch jsx.Code(e.Name) {
		case jsx.ErrAborted:
			return v, ErrCancelled
		case jsx.ErrSecurity:
			return v, ErrGesture
		case jsx.ErrNotAllowed:
			return v, ErrDenied
		case jsx.ErrType:
			return v, fmt.Errorf("%s: %w", e.Message, errInvalid)
		}
	}
	return v, webErr(err)
}

func pickFiles(ctx context.Context, mode Mode, o PickOptions) (*Folder, error) {
	if !jsx.Supported("showOpenFilePicker") {
		return uploadBy(ctx, false)
	}
	q, err := pickQuestion(mode, o)
	if err != nil {
		return nil, err
	}
	delete(q, "mode")
	q["multiple"] = true
	list, err := show(ctx, "showOpenFilePicker", q)
	if err != nil {
		return nil, err
	}
	n, err := jsx.Length(list)
	if err != nil {
		return nil, err
	}
	t := newFileTree("files")
	for i := range n {
		v, err := jsx.Index(list, i)
		if err != nil {
			return nil, err
		}
		if mode == ReadWrite {
			if p, err := requestPermission(ctx, v, ReadWrite); err != nil || p != Granted {
				return nil, errors.Join(ErrDenied, err)
			}
		}
		f, err := await(ctx, v, "getFile")
		if err != nil {
			return nil, err
		}
		name, err := stringOf(f, "name")
		if err != nil {
			return nil, err
		}
		if err := t.add(uniqueName(t, name), f, v); err != nil {
			return nil, err
		}
	}
	t.writable = mode == ReadWrite
	return newFolder(t), nil
}

func uniqueName(t *fileTree, name string) string {
	ext := path.Ext(name)
	for i := 2; t.nodes[name] != nil; i++ {
		name = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), i, ext)
	}
	return name
}

func openOPFS(ctx context.Context, dir string) (*Folder, error) {
	if err := cleanName(dir); err != nil {
		return nil, pathErr("opfs", dir, err)
	}
	if !jsx.Supported("navigator.storage.getDirectory") {
		return nil, fmt.Errorf("this page has no origin-private file system (it needs a secure context and an origin of its own): %w", errors.ErrUnsupported)
	}
	storage, err := jsx.Lookup(jsx.Global(), "navigator.storage")
	if err != nil {
		return nil, err
	}
	root, err := await(ctx, storage, "getDirectory")
	if err != nil {
		return nil, err
	}
	for part := range parts(dir) {
		if root, err = await(ctx, root, "getDirectoryHandle", part, map[string]any{"create": true}); err != nil {
			return nil, pathErr("opfs", dir, err)
		}
	}
	return newHandles(root, "opfs", ReadWrite, "opfs:"+dir)
}

func supported() []Support {
	has := func(name, path, otherwise string) Support {
		if jsx.Supported(path) {
			return Support{Name: name, OK: true}
		}
		return Support{Name: name, Reason: otherwise}
	}
	out := []Support{
		has("pick", "showDirectoryPicker", "only Chromium shows folders to pages, and only in a secure context and a top frame; use OPFS, Upload or a DropZone"),
		has("pick files", "showOpenFilePicker", "files come as read-only copies; SaveAs hands results back"),
		has("opfs", "navigator.storage.getDirectory", "needs a secure context and an origin of its own; use NewMemory"),
		{Name: "upload", OK: hasProperty("HTMLInputElement.prototype", "webkitdirectory"), Reason: "this browser uploads files but no folders"},
		has("drop", "DataTransferItem.prototype.getAsFileSystemHandle", "what is dropped is a read-only picture"),
		has("remember", "indexedDB.open", "nothing is kept between visits"),
		has("locks", "navigator.locks.request", "two tabs that write one path are told apart by versions only"),
		has("watch", "FileSystemObserver", "changes are found by polling"),
		has("in place", "FileSystemFileHandle.prototype.createSyncAccessHandle", "only a Worker writes files in place; here what is written through a handle appears when it is synced or closed"),
		has("move", "FileSystemFileHandle.prototype.move", "renaming is copying and deleting"),
	}
	if out[3].OK {
		out[3].Reason = ""
	}
	if !out[4].OK && jsx.Supported("DataTransferItem.prototype.webkitGetAsEntry") {
		out[4].OK = true // Reason stays, because a dropped folder is read-only
	}
	return out
}

// hasProperty reports whether an object has a property, without reading it: a getter on a
// prototype throws.
func hasProperty(of, name string) bool {
	v, err := jsx.Lookup(jsx.Global(), of)
	return err == nil && !jsx.Nullish(v) && jsx.Has(v, name)
}

func storageEstimate(ctx context.Context) (Storage, error) {
	var s Storage
	if !jsx.Supported("navigator.storage.estimate") {
		return s, errors.ErrUnsupported
	}
	storage, err := jsx.Lookup(jsx.Global(), "navigator.storage")
	if err != nil {
		return s, err
	}
	e, err := await(ctx, storage, "estimate")
	if err != nil {
		return s, err
	}
	usage, uerr := numberOf(e, "usage")
	quota, qerr := numberOf(e, "quota")
	if err := errors.Join(uerr, qerr); err != nil {
		return s, err
	}
	s.Usage, s.Quota = int64(usage), int64(quota)
	if p, err := await(ctx, storage, "persisted"); err == nil {
		s.Persistent, _ = jsx.Bool(p)
	}
	return s, nil
}

func persist(ctx context.Context) (bool, error) {
	if !jsx.Supported("navigator.storage.persist") {
		return false, errors.ErrUnsupported
	}
	storage, err := jsx.Lookup(jsx.Global(), "navigator.storage")
	if err != nil {
		return false, err
	}
	p, err := await(ctx, storage, "persist")
	if err != nil {
		return false, err
	}
	return jsx.Bool(p)
}

func saveAs(ctx context.Context, fsys FS, name, as string) error {
	f := folderOf(ctx, fsys)
	p, err := f.enter(name)
	if err != nil {
		return pathErr("save", name, err)
	}
	var blob jsx.Value
	if h, ok := f.c.(*handles); ok {
		if _, blob, err = h.file(ctx, p); err != nil {
			return pathErr("save", name, err)
		}
	} else {
		data, err := f.c.readFile(ctx, p)
		if err != nil {
			return pathErr("save", name, err)
		}
		part, err := jsx.FromBytes(data)
		if err != nil {
			return err
		}
		// Never a type that the browser would show instead of saving it.
		if blob, err = jsx.NewGlobal("Blob", []any{part}, map[string]any{"type": "application/octet-stream"}); err != nil {
			return err
		}
	}
	return download(blob, as)
}

func download(blob jsx.Value, as string) error {
	url, err := jsx.Lookup(jsx.Global(), "URL")
	if err != nil {
		return err
	}
	href, err := jsx.Call(url, "createObjectURL", blob)
	if err != nil {
		return webErr(err)
	}
	defer jsx.Call(url, "revokeObjectURL", href)
	doc, err := jsx.Lookup(jsx.Global(), "document")
	if err != nil {
		return err
	}
	a, err := jsx.Call(doc, "createElement", "a")
	if err != nil {
		return err
	}
	if err := errors.Join(jsx.Set(a, "href", href), jsx.Set(a, "download", as)); err != nil {
		return err
	}
	_, err = jsx.Call(a, "click")
	return err
}
