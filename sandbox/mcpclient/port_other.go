//go:build !js

package mcpclient

import (
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

func newPort(any) (fetch.Transport, error) {
	return nil, protocol.Errorf(protocol.ErrInvalidParams, "connect", "", "there are no ports outside of a page")
}
