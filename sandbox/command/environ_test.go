package command

import (
	"slices"
	"testing"
)

func TestCommandsVariablesReplaceTheRunners(t *testing.T) {
	for _, c := range []struct{ first, second, want []string }{
		{nil, nil, nil},
		{[]string{"A=1"}, nil, []string{"A=1"}},
		{[]string{"A=1", "B=2"}, []string{"A=3"}, []string{"B=2", "A=3"}},
		{[]string{"A=1"}, []string{"AB=2", "PWD=/d"}, []string{"A=1", "AB=2"}},
		{[]string{"A=1"}, []string{"A="}, []string{"A="}},
	} {
		if got := environ(c.first, c.second); !slices.Equal(got, c.want) {
			t.Errorf("%v, %v: %v, want %v", c.first, c.second, got, c.want)
		}
	}
}
