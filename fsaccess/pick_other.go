//go:build !js

package fsaccess

import (
	"context"
	"errors"
	"fmt"
)

var errNoBrowser = fmt.Errorf("there is no browser here; use OpenDir or NewMemory: %w", errors.ErrUnsupported)

func pick(context.Context, Mode, PickOptions) (*Folder, error) { return nil, errNoBrowser }

func pickFiles(context.Context, Mode, PickOptions) (*Folder, error) { return nil, errNoBrowser }

func openOPFS(context.Context, string) (*Folder, error) { return nil, errNoBrowser }

func upload(context.Context) (*Folder, error) { return nil, errNoBrowser }

func newDropZone(string) (dropZone, error) { return nil, errNoBrowser }

func rememberFolder(context.Context, *Folder, string) error { return errNoBrowser }

func rememberFolderAs(context.Context, *Folder, string) (string, error) {
	return "", errNoBrowser
}

func nameOf(*Folder) string { return "" }

func rememberedFolders(context.Context) ([]RememberedFolder, error) { return nil, errNoBrowser }

func restoreFolder(context.Context, string) (*Folder, error) { return nil, errNoBrowser }

func forgetFolder(context.Context, string) error { return errNoBrowser }

func requestWrite(context.Context, *Folder) error { return errNoBrowser }

func storageEstimate(context.Context) (Storage, error) { return Storage{}, errNoBrowser }

func persist(context.Context) (bool, error) { return false, errNoBrowser }

func saveAs(context.Context, FS, string, string) error { return errNoBrowser }

func checkPermission(_ context.Context, f *Folder, mode Mode) error { return withoutDialogue(f, mode) }

func supported() []Support {
	var out []Support
	for _, n := range []string{"pick", "pick files", "opfs", "upload", "drop", "remember", "locks", "watch", "move"} {
		out = append(out, Support{n, false, "there is no browser here; use OpenDir or NewMemory"})
	}
	return out
}

func uploadedBy(string) (*Folder, error) { return nil, errNoBrowser }
