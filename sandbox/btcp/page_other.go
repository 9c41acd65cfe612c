//go:build !js

package btcp

import (
	"context"
	"errors"
	"fmt"
)

// missing is the reason why the tools of a page are not there.
const missing = "there is no page; it needs a browser"

var errNoPage = fmt.Errorf("btcp.Page: %s: %w", missing, errors.ErrUnsupported)

func (p Page) describe(string) (any, error)                       { return nil, errNoPage }
func (p Page) changed(context.Context, string) (any, bool, error) { return nil, false, errNoPage }
func (p Page) change(selector, from, to string, do bool) error    { return errNoPage }
func (p Page) store(key string, value *string) error              { return errNoPage }
func stored(string) (string, bool, error)                         { return "", false, errNoPage }
func readClipboard(context.Context, int) (string, error)          { return "", errNoPage }
func writeClipboard(context.Context, string) error                { return errNoPage }
