// Package overlay is the layer that keeps the changes of a folder in a second folder until
// they are applied. It applies nothing to a path that another program has changed.
package overlay
