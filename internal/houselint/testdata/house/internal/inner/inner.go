// Package inner is internal.
package inner

// Box has a field.
type Box struct{ Field int }
