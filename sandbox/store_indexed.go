package sandbox

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
)

// IndexedStore returns a store that keeps sessions in the page's IndexedDB. It opens the database of
// the given name, or creates it. Each Put is one transaction, and is on disk when Put returns. A
// browser may clear the database under storage pressure unless [fsaccess.Persist] was granted, and
// clears it together with the origin's other data. WebKit clears it after seven days without a
// visit of the user. Without a browser, and in a page without storage, the error wraps
// [errors.ErrUnsupported]. Use a [MemoryStore] then.
//
// [fsaccess.Persist]: https://pkg.go.dev/github.com/bailey-go/bailey/fsaccess#Persist
func IndexedStore(ctx context.Context, name string) (Store, error) {
	if name == "" {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "open", "", "the database needs a name")
	}
	f, err := openIndexed(ctx, name)
	if err != nil {
		return nil, err
	}
	return newSegmented(f), nil
}
