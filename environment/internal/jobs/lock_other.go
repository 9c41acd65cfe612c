//go:build !unix

package jobs

import (
	"context"
	"errors"
)

// Lock implements [Store].
func (folder) Lock(context.Context, string) (func(), error) {
	return nil, errors.New("jobs: a folder can't be locked on this system: use a database or a bucket")
}
