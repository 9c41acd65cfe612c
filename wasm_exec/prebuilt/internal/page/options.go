//go:build js && wasm

package page

import (
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/internal/jsx"
)

// ErrNoOption is the error for an unknown key. Without it a misspelt onLink would leave links
// dead without any message.
var ErrNoOption = errors.New("there is no such option")

// Each calls read with each property of an options object, except those that are undefined or
// null. Its errors contain the option's name, after a prefix if one is given.
func Each(v jsx.Value, what string, read func(key string, value jsx.Value) error) error {
	entries, err := jsx.Call(Must(jsx.Get(jsx.Global(), "Object")), "entries", v)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	n, err := jsx.Length(entries)
	if err != nil {
		return err
	}
	for i := range n {
		pair, err := jsx.Index(entries, i)
		if err != nil {
			return err
		}
		key, err := jsx.String(Must(jsx.Index(pair, 0)), 200)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		value, err := jsx.Index(pair, 1)
		if err == nil && !jsx.Nullish(value) {
			err = read(key, value)
		}
		if err != nil && what != "" {
			err = fmt.Errorf("%s: %s: %w", what, key, err)
		} else if err != nil {
			err = fmt.Errorf("%s: %w", key, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
