package fsaccess_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// A folder with a policy in front and an undo behind. In a browser it would
// come from Pick, Restore, OPFS or a drop; the rest is the same.
func Example() {
	ctx := context.Background()
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	undo := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	notes, _ := protocol.ParsePattern("notes")

	work := fsaccess.NewJournal(fsaccess.Guard(dir, protocol.FSPolicy{AllowWrite: []protocol.Pattern{notes}}, fsaccess.GuardOptions{}), undo, fsaccess.JournalOptions{})
	fmt.Println(work.MkdirAll("notes", 0o755))
	fmt.Println(work.WriteFile("notes/a.md", []byte("first\n"), 0o644))
	fmt.Println(work.WriteFile("notes/a.md", []byte("second\n"), 0o644))
	err := work.WriteFile("elsewhere.md", nil, 0o644)
	fmt.Println(errors.Is(err, fsaccess.ErrDenied))

	fmt.Println(work.Undo(ctx))
	text, _ := work.ReadFile("notes/a.md")
	fmt.Printf("%s", text)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// true
	// <nil>
	// first
}

// An overlay shows what would change before anything does.
func ExampleNewOverlay() {
	ctx := context.Background()
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("poem.txt", []byte("roses are red\n"), 0o644)

	work := fsaccess.NewOverlay(dir, fsaccess.NewMemory(fsaccess.MemoryOptions{}))
	_ = work.WriteFile("poem.txt", []byte("roses are blue\n"), 0o644)
	diff, _ := work.DiffText(ctx, "poem.txt")
	fmt.Print(diff)
	applied, err := work.Apply(ctx)
	fmt.Println(len(applied), err)
	// Output:
	// --- a/poem.txt
	// +++ b/poem.txt
	// @@ -1 +1 @@
	// -roses are red
	// +roses are blue
	// 1 <nil>
}

// The handler of a button. The folder holds the files that the user picks.
func ExamplePick_files() {
	handler := func(ctx context.Context) (*fsaccess.Folder, error) {
		f, err := fsaccess.Pick(ctx, fsaccess.ReadWrite, fsaccess.PickOptions{Files: true, ID: "notes"})
		if errors.Is(err, fsaccess.ErrCancelled) {
			return nil, nil // the user closed the dialogue
		}
		return f, err
	}
	_, _ = handler(context.Background())
}

// A form of the page has <input id="photos" type="file" multiple>.
func ExampleUploadedBy() {
	photos, err := fsaccess.UploadedBy("#photos")
	if err != nil {
		fmt.Println(err)
		return
	}
	names, err := photos.Glob("*.jpg")
	fmt.Println(names, err)
}

// A page that comes back later opens the folder of last time, and shows a button only if
// the browser would ask.
func ExampleFolder_CheckPermission() {
	ctx := context.Background()
	f, err := fsaccess.Restore(ctx, "last")
	if err != nil {
		fmt.Println(err)
		return
	}
	switch err := f.CheckPermission(ctx, fsaccess.ReadWrite); {
	case err == nil:
		fmt.Println("open it")
	case errors.Is(err, fsaccess.ErrGesture):
		fmt.Println("show a button that calls f.RequestWrite")
	default:
		fmt.Println("work on a copy: NewOverlay")
	}
}

// The journal's store is in the origin-private file system, which a browser may clear.
func ExamplePersist() {
	if kept, err := fsaccess.Persist(context.Background()); err != nil || !kept {
		fmt.Println("the browser may clear the undo under storage pressure")
	}
}
