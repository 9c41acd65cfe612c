package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"

	"github.com/bailey-go/bailey/fsaccess/internal/web"
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
	name, err := web.StringOf(handle, "name")
	if err != nil {
		return nil, err
	}
	h, err := web.NewHandles(handle, "picked", string(mode), "picked:"+name)
	if err != nil {
		return nil, err
	}
	if o.Remember != "" {
		err = h.Remember(ctx, o.Remember)
	}
	return newFolder(h), err
}

func pickQuestion(mode Mode, o PickOptions) (map[string]any, error) {
	if mode != ReadOnly && mode != ReadWrite {
		return nil, fmt.Errorf("mode %q: %w", mode, core.ErrInvalid)
	}
	q := map[string]any{"mode": string(mode)}
	if o.ID != "" {
		if len(o.ID) > 32 || strings.Trim(o.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return nil, fmt.Errorf("id %q: at most 32 letters, digits, - and _: %w", o.ID, core.ErrInvalid)
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
			return v, fmt.Errorf("%s: %w", e.Message, core.ErrInvalid)
		}
	}
	return v, web.WebErr(err)
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
	t := web.NewTree("files")
	for i := range n {
		v, err := jsx.Index(list, i)
		if err != nil {
			return nil, err
		}
		if mode == ReadWrite {
			if p, err := web.RequestPermission(ctx, v, web.ModeWrite); err != nil || p != web.PermGranted {
				return nil, errors.Join(ErrDenied, err)
			}
		}
		f, err := web.Await(ctx, v, "getFile")
		if err != nil {
			return nil, err
		}
		name, err := web.StringOf(f, "name")
		if err != nil {
			return nil, err
		}
		if err := t.Add(web.UniqueName(t, name), f, v); err != nil {
			return nil, err
		}
	}
	t.Writable = mode == ReadWrite
	return newFolder(t), nil
}

func openOPFS(ctx context.Context, dir string) (*Folder, error) {
	if err := core.CleanName(dir); err != nil {
		return nil, pathErr("opfs", dir, err)
	}
	if !jsx.Supported("navigator.storage.getDirectory") {
		return nil, fmt.Errorf("this page has no origin-private file system (it needs a secure context and an origin of its own): %w", errors.ErrUnsupported)
	}
	storage, err := jsx.Lookup(jsx.Global(), "navigator.storage")
	if err != nil {
		return nil, err
	}
	root, err := web.Await(ctx, storage, "getDirectory")
	if err != nil {
		return nil, err
	}
	for part := range core.Parts(dir) {
		if root, err = web.Await(ctx, root, "getDirectoryHandle", part, map[string]any{"create": true}); err != nil {
			return nil, pathErr("opfs", dir, err)
		}
	}
	return folderBehind(web.NewHandles(root, "opfs", web.ModeWrite, "opfs:"+dir))
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
	e, err := web.Await(ctx, storage, "estimate")
	if err != nil {
		return s, err
	}
	usage, uerr := web.NumberOf(e, "usage")
	quota, qerr := web.NumberOf(e, "quota")
	if err := errors.Join(uerr, qerr); err != nil {
		return s, err
	}
	s.Usage, s.Quota = int64(usage), int64(quota)
	if p, err := web.Await(ctx, storage, "persisted"); err == nil {
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
	p, err := web.Await(ctx, storage, "persist")
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
	if h, ok := f.c.(*web.Handles); ok {
		if _, blob, err = h.File(ctx, p); err != nil {
			return pathErr("save", name, err)
		}
	} else {
		data, err := f.c.ReadFile(ctx, p)
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
		return web.WebErr(err)
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

// folderBehind returns the folder of some handles, also beside an error.
func folderBehind(h *web.Handles, err error) (*Folder, error) {
	if h == nil {
		return nil, err
	}
	return newFolder(h), err
}

// handlesOf returns the source of f, if it has a browser handle and f is its root.
func handlesOf(f *Folder) (*web.Handles, error) {
	if h, ok := f.c.(*web.Handles); ok && f.dir == "." {
		return h, nil
	}
	return nil, core.ErrUnsupported
}

func nameOf(f *Folder) string {
	if t, ok := f.c.(*web.Tree); ok && f.dir == "." {
		return t.Name
	}
	h, err := handlesOf(f)
	if err != nil {
		return ""
	}
	return h.Name()
}

func rememberFolder(ctx context.Context, f *Folder, name string) error {
	h, err := handlesOf(f)
	if err != nil {
		return err
	}
	return h.Remember(ctx, name)
}

func rememberFolderAs(ctx context.Context, f *Folder, name string) (string, error) {
	h, err := handlesOf(f)
	if err != nil {
		return "", err
	}
	return h.RememberAs(ctx, name)
}

func rememberedFolders(ctx context.Context) ([]RememberedFolder, error) {
	rows, err := web.Remembered(ctx)
	return convert(rows, func(k web.Stored) RememberedFolder {
		return RememberedFolder{k.Name, k.Folder, Mode(k.Mode), k.LastUse, public(k.Permission)}
	}), err
}

func restoreFolder(ctx context.Context, name string) (*Folder, error) {
	return folderBehind(web.Restore(ctx, name))
}

func forgetFolder(ctx context.Context, name string) error { return web.Forget(ctx, name) }

func checkPermission(ctx context.Context, f *Folder, mode Mode) error {
	h, err := handlesOf(f)
	if err != nil {
		return withoutDialogue(f, mode)
	}
	return public(h.CheckPermission(ctx, string(mode)))
}

func requestWrite(ctx context.Context, f *Folder) error {
	h, err := handlesOf(f)
	if err != nil {
		return ErrReadOnly
	}
	return h.RequestWrite(ctx)
}

func newDropZone(selector string) (dropZone, error) {
	z, err := web.NewDropArea(selector)
	if err != nil {
		return nil, err
	}
	return z, nil
}

func upload(ctx context.Context) (*Folder, error) { return uploadBy(ctx, true) }

// uploadBy clicks a file input that is not in the page.
func uploadBy(ctx context.Context, folder bool) (*Folder, error) {
	doc, err := jsx.Lookup(jsx.Global(), "document")
	if err != nil || jsx.Nullish(doc) {
		return nil, fmt.Errorf("uploading needs a page: %w", errors.ErrUnsupported)
	}
	input, err := jsx.Call(doc, "createElement", "input")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(jsx.Set(input, "type", "file"), jsx.Set(input, "multiple", true), jsx.Set(input, "webkitdirectory", folder)); err != nil {
		return nil, err
	}
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	done := make(chan bool, 2)
	say := func(v bool) func(jsx.Value) {
		return func(jsx.Value) {
			select {
			case done <- v:
			default:
			}
		}
	}
	_, cerr := s.Listen(input, "change", say(true))
	_, xerr := s.Listen(input, "cancel", say(false))
	if err := errors.Join(cerr, xerr); err != nil {
		return nil, err
	}
	if active, err := jsx.Lookup(jsx.Global(), "navigator.userActivation.isActive"); err == nil && !jsx.Nullish(active) {
		if ok, err := jsx.Bool(active); err == nil && !ok {
			return nil, ErrGesture // the click would do nothing, and no event would follow
		}
	}
	if _, err := jsx.Call(input, "click"); err != nil {
		return nil, err
	}
	select {
	case ok := <-done:
		if !ok {
			return nil, ErrCancelled
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return filesOf(input)
}

// uploadedBy returns the files of the page's input.
func uploadedBy(selector string) (*Folder, error) {
	doc, err := jsx.Lookup(jsx.Global(), "document")
	if err != nil || jsx.Nullish(doc) {
		return nil, fmt.Errorf("uploading needs a page: %w", errors.ErrUnsupported)
	}
	input, err := jsx.Call(doc, "querySelector", selector)
	if err != nil {
		return nil, err
	}
	if jsx.Nullish(input) {
		return nil, fmt.Errorf("no element for %q: %w", selector, core.ErrNotExist)
	}
	if files, err := jsx.Get(input, "files"); err != nil || jsx.Nullish(files) {
		return nil, fmt.Errorf("the element for %q is no file input: %w", selector, core.ErrInvalid)
	}
	return filesOf(input)
}

// filesOf returns the chosen files of an input.
func filesOf(input jsx.Value) (*Folder, error) {
	files, err := jsx.Get(input, "files")
	if err != nil {
		return nil, err
	}
	n, err := jsx.Length(files)
	if err != nil {
		return nil, err
	}
	t := web.NewTree("upload")
	for i := range n {
		f, err := jsx.Index(files, i)
		if err != nil {
			return nil, err
		}
		rel, err := web.StringOf(f, "webkitRelativePath")
		if err != nil || rel == "" {
			name, err := web.StringOf(f, "name")
			if err != nil {
				return nil, err
			}
			rel = web.UniqueName(t, name)
		} else if dir, below, ok := strings.Cut(rel, "/"); ok {
			t.Name, rel = dir, below // the first element is the chosen folder itself
		}
		if err := t.Add(rel, f, jsx.Undefined()); err != nil {
			return nil, err
		}
	}
	return newFolder(t), nil
}
