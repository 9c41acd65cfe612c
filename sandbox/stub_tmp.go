package sandbox

import "context"

type Question struct{}
type Todo struct{}
type Skill struct{}
type Session struct{}
type Store interface{}

func NewMemoryStore() Store { return nil }

var _ context.Context
