package sandbox

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
)

// IndexedStore keeps sessions in the page's IndexedDB. Each Put is one transaction,
// which is on disk when Put returns. A browser may clear the database under pressure
// unless [fsaccess.Persist] was granted, and clears it with the origin's other data;
// WebKit does so after seven days in which the person did not come back.
//
// [fsaccess.Persist]: https://pkg.go.dev/github.com/bailey-go/bailey/fsaccess#Persist
type IndexedStore struct{ segmented }

// NewIndexedStore opens the database of that name, or makes it. Without a browser, or in
// a page that has no storage, the error is [errors.ErrUnsupported]; a [MemoryStore] does
// there.
func NewIndexedStore(ctx context.Context, name string) (*IndexedStore, error) {
	if name == "" {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "open", "", "the database needs a name")
	}
	f, err := openIndexed(ctx, name)
	if err != nil {
		return nil, err
	}
	return &IndexedStore{newSegmented(f)}, nil
}
