//go:build !amd64

package confine

import "errors"

// old makes a call of a 32-bit program.
func old(_, _, _, _ uint32) (uintptr, error) {
	return 0, errors.New("not written for this architecture")
}
