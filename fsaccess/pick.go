package fsaccess

import (
	"context"
	"time"
)

// Mode is what a person is asked for.
type Mode string

const (
	ReadOnly  Mode = "read"
	ReadWrite Mode = "readwrite"
)

// PickOptions shapes the browser's folder dialogue.
type PickOptions struct {
	// ID lets the browser open the dialogue where it was last time for the
	// same ID: letters, digits, "-" and "_", at most 32.
	ID string
	// StartIn is where it opens the first time: "desktop", "documents",
	// "downloads", "music", "pictures" or "videos".
	StartIn string
	// Remember keeps the folder under this name for [Restore].
	Remember string
}

// Pick shows the browser's folder dialogue. It must be called in answer to a
// click or a key ([ErrGesture] says that it was not). [ReadWrite] asks for both
// in the one dialogue; [ReadOnly] asks only to read, and [RequestWrite] can ask
// for the rest later: Chromium offers "allow on every visit" for either, by
// what was asked. A closed dialogue is [ErrCancelled]; the browser does not say
// whether the person closed it or it refused the folder, as Chromium refuses
// the home folder, Downloads and system folders themselves, though not folders
// in them.
//
// Where there is no such dialogue the error is [errors.ErrUnsupported] and
// [Supported] says what there is instead; Pick never falls back by itself.
func Pick(ctx context.Context, mode Mode, opts ...PickOptions) (*Folder, error) {
	var o PickOptions
	for _, x := range opts {
		o = x
	}
	return pick(ctx, mode, o)
}

// PickFiles shows the browser's file dialogue and gives the chosen files as a
// folder with nothing else in it. Files of one name are told apart by " (2)".
func PickFiles(ctx context.Context, mode Mode, opts ...PickOptions) (*Folder, error) {
	var o PickOptions
	for _, x := range opts {
		o = x
	}
	return pickFiles(ctx, mode, o)
}

// OPFS opens a folder of the origin-private file system, which every current
// browser has and no dialogue guards: the person does not see it, it counts
// against the origin's quota, and the browser may clear it unless the origin is
// persistent. The folder is made if need be; "." is the root.
//
// In a Worker files that are opened for writing are written in place, as on a
// disk, through the browser's access handles ([Features].Staged is false). While
// one is open the browser lets nobody else change the file: another tab, or
// another Folder, gets [ErrBusy]. WriteFile still replaces in one step.
func OPFS(ctx context.Context, dir string) (*Folder, error) { return openOPFS(ctx, dir) }

// Upload shows the browser's folder dialogue of an upload and gives what is
// chosen as a read-only folder: a picture of that moment, in any browser. It
// must be called in answer to a click or a key.
func Upload(ctx context.Context) (*Folder, error) { return upload(ctx) }

// DropZone is an element that folders and files can be dragged onto.
type DropZone struct{ z *dropZone }

// NewDropZone makes the element that a CSS selector finds accept drops. Where
// the browser gives handles the folders can be written ([RequestWrite] asks);
// elsewhere they are read-only pictures of the moment.
//
// A frame of another origin takes drops for itself. So the frames in the element let the
// pointer through while files are dragged over the page, and what is dropped on them is the
// zone's. A frame in which the drag begins tells nobody, unless it is a Document's. The
// element has the attribute data-drop meanwhile, for a style that says what a drop does.
func NewDropZone(selector string) (*DropZone, error) {
	z, err := newDropZone(selector)
	if err != nil {
		return nil, err
	}
	return &DropZone{z}, nil
}

// Drop is what was dropped: one folder, or a folder of the dropped files.
type Drop struct {
	Name   string
	Folder *Folder
}

// Next waits for a drop.
func (z *DropZone) Next(ctx context.Context) (Drop, error) { return z.z.next(ctx) }

// Close stops accepting. It is idempotent.
func (z *DropZone) Close() error { return z.z.close() }

// Name is what a picked, dropped or origin-private folder is called on its platform, as a
// text to show; folders of other sources have none, and neither has the root of the
// origin-private file system.
func (f *Folder) Name() string { return nameOf(f) }

// Permission is what the browser says about a remembered folder.
type Permission string

const (
	Granted Permission = "granted"
	Prompt  Permission = "prompt"
	Denied  Permission = "denied"
)

// RememberedFolder is a folder kept from an earlier visit.
type RememberedFolder struct {
	Name       string // the name it is remembered by
	Folder     string // the folder's own name
	Mode       Mode   // what it was last used for
	LastUse    time.Time
	Permission Permission // at this moment, for Mode
}

// Remember keeps a picked or dropped folder under a name, in IndexedDB, in place of what
// was kept by that name.
func Remember(ctx context.Context, f *Folder, name string) error { return remember(ctx, f, name) }

// RememberAs is Remember where another folder may be kept by that name: then this one is
// kept as "name (2)", or what is free. It returns the name, which is the same whenever this
// folder comes again: what an app keeps for one folder does not fall to another that is
// called alike.
func RememberAs(ctx context.Context, f *Folder, name string) (string, error) {
	return rememberAs(ctx, f, name)
}

// Remembered lists the kept folders, last used first.
func Remembered(ctx context.Context) ([]RememberedFolder, error) { return remembered(ctx) }

// Restore opens a kept folder; "last" is the one used last, if none has that
// name. After a reload the browser may want the person's consent again, and
// that a gesture: then it is [ErrGesture] without one, and [ErrDenied] if the
// person says no.
func Restore(ctx context.Context, name string) (*Folder, error) { return restore(ctx, name) }

// RestoreAll opens several kept folders in answer to one gesture, as far as
// the browser lets one gesture count for all; the errors are by name.
func RestoreAll(ctx context.Context, names ...string) (map[string]*Folder, map[string]error) {
	folders, errs := make(map[string]*Folder), make(map[string]error)
	for _, n := range names {
		f, err := Restore(ctx, n)
		if err != nil {
			errs[n] = err
			continue
		}
		folders[n] = f
	}
	return folders, errs
}

// Forget drops a kept folder. A name that is not kept is no error.
func Forget(ctx context.Context, name string) error { return forget(ctx, name) }

// PermissionOf asks, without a dialogue, what the browser allows for a folder
// now.
func PermissionOf(ctx context.Context, f *Folder, mode Mode) (Permission, error) {
	return permissionOf(ctx, f, mode)
}

// RequestWrite asks the person to let a folder that was opened to be read be
// written too. It needs a gesture; a no is [ErrDenied] and is not asked again
// by this package.
func RequestWrite(ctx context.Context, f *Folder) error { return requestWrite(ctx, f) }

// Support is one ability and whether this browser, and this page, has it.
type Support struct {
	Name   string // "pick", "pick files", "opfs", "upload", "drop", "remember", "locks", "watch", "in place", "move"
	OK     bool
	Reason string // if not: why, and what to use instead
}

// Supported says what can be done here.
func Supported() []Support { return supported() }

// Storage is what the browser says about the origin's room. It is an estimate,
// and padded on purpose: a write may fail long before it says so, with
// [ErrQuota].
type Storage struct {
	Usage, Quota int64
	Persistent   bool // not cleared under pressure
}

// StorageEstimate asks the browser.
func StorageEstimate(ctx context.Context) (Storage, error) { return storageEstimate(ctx) }

// Persist asks the browser not to clear the origin's storage under pressure.
func Persist(ctx context.Context) (bool, error) { return persist(ctx) }

// SaveAs hands one file to the browser's downloads, for browsers without
// folder dialogues.
func SaveAs(ctx context.Context, fsys FS, name, as string) error { return saveAs(ctx, fsys, name, as) }
