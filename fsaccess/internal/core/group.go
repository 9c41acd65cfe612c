package core

import (
	"context"
	"sync"
)

type causeKey struct{}

// WithCause returns a context that carries the reason for changes.
func WithCause(ctx context.Context, cause string) context.Context {
	return context.WithValue(ctx, causeKey{}, cause)
}

// CauseOf returns the reason for changes, or "".
func CauseOf(ctx context.Context) string {
	s, _ := ctx.Value(causeKey{}).(string)
	return s
}

// GroupKey is the context key for a *[Group].
type GroupKey struct{}

// Group joins several changes to one step. Its ID is the Seq of its first record.
type Group struct {
	Mu    sync.Mutex
	ID    int64
	Label string
}

// Grouped returns a context in which all changes are one step.
func Grouped(ctx context.Context) context.Context {
	if g, _ := ctx.Value(GroupKey{}).(*Group); g != nil {
		return ctx
	}
	return context.WithValue(ctx, GroupKey{}, new(Group))
}

// Labelled is [Grouped] with a label for the history.
func Labelled(ctx context.Context, label string) context.Context {
	if ctx.Value(GroupKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, GroupKey{}, &Group{Label: label})
}

// InGroupOf returns ctx with the group of from, unless ctx has a group.
func InGroupOf(ctx, from context.Context) context.Context {
	if from == nil || ctx.Value(GroupKey{}) != nil {
		return ctx
	}
	if g := from.Value(GroupKey{}); g != nil {
		return context.WithValue(ctx, GroupKey{}, g)
	}
	return ctx
}
