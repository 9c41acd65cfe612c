// Package tool has an alias.
package tool

import (
	"github.com/bailey-go/bailey/internal/inner"
	"github.com/bailey-go/bailey/protocol"
)

// Box is an alias: its documentation shows no fields.
type Box = inner.Box

// Size returns the size that package protocol has.
func Size() int { return protocol.Used }
