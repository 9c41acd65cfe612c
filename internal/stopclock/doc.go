// Package stopclock contains time limits that pause while a person is asked.
//
// A limit is a [Clock] in a context. A clock that is made from a context with another clock is below that one, and all
// clocks below one outermost clock pause together: the limit of a tool, of the run of the code that called it, and of
// the call that runs the code. So a question that a person has to read does not disappear because of a limit far away.
// Pauses nest. A clock may bound the sum of its pauses, and it does not pause while its owner says that it is busy.
//
// The package trusts its callers: only the host may pause a clock, and never the code that the clock limits.
package stopclock
