package fsaccess

import (
	"context"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// Mode is the access that a program asks the user for.
type Mode string

const (
	// ReadOnly asks for reading.
	ReadOnly Mode = "read"
	// ReadWrite asks for reading and writing.
	ReadWrite Mode = "readwrite"
)

// PickOptions configures the browser's folder dialogue. All fields are optional.
type PickOptions struct {
	// ID makes the browser open the dialogue in the folder that was last chosen with the
	// same ID. It has at most 32 characters: letters, digits, "-" and "_".
	ID string
	// StartIn is the folder that the dialogue shows the first time: "desktop", "documents",
	// "downloads", "music", "pictures" or "videos".
	StartIn string
	// Remember, if set, stores the folder under this name for [Restore]. It has no effect on
	// Files.
	Remember string
	// Files shows the file dialogue instead. The folder then holds only the chosen files. A
	// second file with the same name gets a number, for example "a (2).txt". Browsers without
	// the dialogue show an upload instead, and the folder is then read-only.
	Files bool
}

// Pick shows the browser's folder dialogue and returns the chosen folder, or with
// [PickOptions].Files the file dialogue and a folder of the chosen files. Call it in the
// handler of a click or a key press. Otherwise the error is [ErrGesture]. [ReadWrite] asks
// for both rights in one dialogue. [ReadOnly] asks for reading only, and [Folder.RequestWrite] can
// ask for writing later. Chromium offers "allow on every visit" for the right that was
// asked for.
//
// If the user closes the dialogue, the error is [ErrCancelled]. The same error is returned
// if the browser refuses the folder, because the browser does not report the difference.
// Chromium refuses the home folder, Downloads and system folders, but not folders inside
// them. If the user denies access, the error is [ErrDenied].
//
// Browsers without a folder dialogue return [errors.ErrUnsupported], unless
// [PickOptions].Files is set. [Supported] lists the alternatives. Pick never uses one of them
// by itself.
func Pick(ctx context.Context, mode Mode, o PickOptions) (*Folder, error) {
	if o.Files {
		return pickFiles(ctx, mode, o)
	}
	return pick(ctx, mode, o)
}

// OPFS opens a folder of the origin-private file system (OPFS). Every current browser has
// one and shows no dialogue for it. The user does not see the folder. It counts against the
// origin's quota, and the browser may clear it unless [Persist] succeeded. OPFS makes the
// folder if it does not exist. The dir "." is the root. A page without an origin-private
// file system gets [errors.ErrUnsupported].
//
// In a Worker, files that are opened for writing are written in place through the browser's
// access handles, and [Features].Staged is false. While such a file is open, the browser
// lets no other tab and no other [Folder] change it: they get [ErrBusy]. WriteFile still
// replaces the file in one step.
func OPFS(ctx context.Context, dir string) (*Folder, error) { return openOPFS(ctx, dir) }

// Upload shows the browser's folder dialogue for uploads and returns the chosen folder as a
// read-only copy of this moment. It works in any browser, but a browser without folder
// uploads (see [Supported]) lets the user choose files only. Call it in the handler of a
// click or a key press. Otherwise the error is [ErrGesture]. If the user closes the
// dialogue, the error is [ErrCancelled].
func Upload(ctx context.Context) (*Folder, error) { return upload(ctx) }

// UploadedBy returns the files that the user has chosen in the page's own file input, the
// first element that matches a CSS selector, as a read-only folder of this moment. If the
// input has the attribute webkitdirectory, the folder contains the chosen tree. If no
// element matches, the error wraps [fs.ErrNotExist]. If the element is not a file input, it
// wraps [fs.ErrInvalid].
func UploadedBy(selector string) (*Folder, error) { return uploadedBy(selector) }

// DropZone is an element of the page onto which the user can drag folders and files.
type DropZone struct{ z dropZone }

type dropZone interface {
	Next(ctx context.Context) (core.Core, error)
	Close() error
}

// NewDropZone makes the first element that matches a CSS selector accept drops. If no
// element matches, the error wraps [fs.ErrNotExist]. Where the browser provides handles, a
// dropped folder can be made writable with [Folder.RequestWrite]. In other browsers it is a
// read-only copy of this moment.
//
// A frame of another origin receives drops itself. Therefore, while files are dragged over
// the page, the frames inside the element ignore the pointer, and drops on them go to the
// zone. A drag that begins inside a frame is not noticed, unless the frame is a Document's.
// During a drag the element has the attribute data-drop, which a style sheet can use to
// show a hint.
func NewDropZone(selector string) (*DropZone, error) {
	z, err := newDropZone(selector)
	if err != nil {
		return nil, err
	}
	return &DropZone{z}, nil
}

// Next waits for the next dropped item and returns it: a folder, or a folder that holds one
// dropped file. [Folder.Name] is the name of the dropped folder or file. Each folder and each
// file of a drop is an item of its own. Up to 256 items are queued, and further ones are
// ignored. Next returns the cause of ctx if ctx ends first.
func (z *DropZone) Next(ctx context.Context) (*Folder, error) {
	c, err := z.z.Next(ctx)
	if err != nil {
		return nil, err
	}
	return newFolder(c), nil
}

// Close stops accepting drops. It is idempotent. It does not end a waiting Next.
func (z *DropZone) Close() error { return z.z.Close() }

// Name returns the platform's name of a picked, dropped, uploaded or origin-private folder, or of
// a dropped file, as a text to show. It returns "" for other sources, for files that were uploaded
// without a folder, for layers, for a folder from Sub and for the root of the origin-private file
// system.
func (f *Folder) Name() string { return nameOf(f) }

// RememberedFolder describes a folder stored on an earlier visit.
type RememberedFolder struct {
	Name    string // the name it is stored under
	Folder  string // the folder's own name
	Mode    Mode   // the access it was last used with
	LastUse time.Time
	// Permission is nil if the browser currently grants Mode. Otherwise it is an error of
	// [Folder.CheckPermission].
	Permission error
}

// Remember stores a picked or dropped folder under a name, in IndexedDB, for [Restore]. It
// replaces a folder stored under that name. The name has 1 to 256 bytes, else the error is
// [fs.ErrInvalid]. Other sources, layers and sub-folders return [errors.ErrUnsupported].
func (f *Folder) Remember(ctx context.Context, name string) error {
	return rememberFolder(ctx, f, name)
}

// RememberAs is [Folder.Remember] that never replaces another folder. If another folder has the
// name, RememberAs uses "name (2)", or the next free number, and returns the name. The same
// folder gets the same name every time. So data that an app stores under that name never
// goes to a different folder with an equal name.
func (f *Folder) RememberAs(ctx context.Context, name string) (string, error) {
	return rememberFolderAs(ctx, f, name)
}

// Remembered returns the stored folders, the last used first.
func Remembered(ctx context.Context) ([]RememberedFolder, error) { return rememberedFolders(ctx) }

// Restore opens a stored folder. The name "last" opens the folder that was used last,
// unless a folder is stored under that name. For an unknown name the error wraps
// [fs.ErrNotExist]. After a reload the browser may ask the user again, and needs a gesture
// to ask. Without a gesture the error wraps [ErrGesture]. If the user denies access, the
// error wraps [ErrDenied].
func Restore(ctx context.Context, name string) (*Folder, error) { return restoreFolder(ctx, name) }

// Forget removes the stored folder from the list. Its files stay. If the list no longer has
// the folder, Forget returns nil.
func (r RememberedFolder) Forget(ctx context.Context) error { return forgetFolder(ctx, r.Name) }

// CheckPermission returns nil if the browser currently grants the access, without a
// dialogue. If the browser would ask the user, the error is [ErrGesture]: show a button that
// calls [Folder.RequestWrite] or [Restore]. If the user or the browser refused, the error is
// [ErrDenied]. A source that needs no permission returns nil, or [ErrReadOnly] for
// [ReadWrite] if the folder is read-only.
func (f *Folder) CheckPermission(ctx context.Context, mode Mode) error {
	return checkPermission(ctx, f, mode)
}

// withoutDialogue returns the error of [Folder.CheckPermission] for a folder of a source that
// has no dialogue.
func withoutDialogue(f *Folder, mode Mode) error {
	if f.Features().ReadOnly && mode == ReadWrite {
		return ErrReadOnly
	}
	return nil
}

// RequestWrite asks the user for write access to a picked, dropped or restored folder that
// was opened for reading. Call it in the handler of a click or a key press. Otherwise the
// error is [ErrGesture]. If the user denies access, the error is [ErrDenied], and this
// package does not ask again by itself. For a layer, a sub-folder or another source, such
// as an upload, the error is [ErrReadOnly].
func (f *Folder) RequestWrite(ctx context.Context) error { return requestWrite(ctx, f) }

// Support reports whether this browser, and this page, has one ability.
type Support struct {
	Name   string // "pick", "pick files", "opfs", "upload", "drop", "remember", "locks", "watch", "in place", "move"
	OK     bool
	Reason string // why the ability is missing and an alternative, or a restriction of it
}

// Supported returns the abilities of this browser and this page.
func Supported() []Support { return supported() }

// Storage is the browser's estimate of the origin's storage, in bytes. Browsers pad the
// figures on purpose, so a write may fail with [ErrQuota] long before Usage reaches Quota.
type Storage struct {
	Usage, Quota int64
	Persistent   bool // the browser does not clear it under storage pressure
}

// StorageEstimate returns the browser's estimate. Browsers without the API return
// [errors.ErrUnsupported].
func StorageEstimate(ctx context.Context) (Storage, error) { return storageEstimate(ctx) }

// Persist asks the browser to keep the origin's storage under storage pressure. It reports
// whether the browser agreed. Browsers without the API return
// [errors.ErrUnsupported].
func Persist(ctx context.Context) (bool, error) { return persist(ctx) }

// SaveAs saves one file to the browser's downloads under the file name as. It is for
// browsers without folder dialogues. It needs a page, so it fails in a Worker.
func SaveAs(ctx context.Context, fsys FS, name, as string) error { return saveAs(ctx, fsys, name, as) }
