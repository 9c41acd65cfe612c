//go:build !unix

package compiled

import (
	"fmt"
	"runtime"
)

func supported() error {
	return fmt.Errorf("%w: on %s it can't be checked who can write to it", ErrUnsafe, runtime.GOOS)
}

func own(string) error      { return supported() }
func ancestor(string) error { return supported() }
