//go:build !js

package ui

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/sandbox"
)

type sheet struct{}

var errNative = fmt.Errorf("ui: no page outside a browser: %w", errors.ErrUnsupported)

func build(iframe.Element, Options) (*sheet, error) { return nil, errNative }

func (*sheet) ask(context.Context, sandbox.Prompt) ([]sandbox.Reply, error) { return nil, errNative }
func (*sheet) dismiss(string)                                               {}
func (*sheet) showWhose()                                                   {}
func (*sheet) close() error                                                 { return nil }
