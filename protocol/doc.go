// Package protocol is the words that all of Bailey speaks: capabilities and the
// policy that grants them, limits and levels, tools, errors, traces, sessions,
// and the messages that cross between a page and untrusted code. It is plain Go
// and holds no JavaScript value, so one policy and one test serve the page and
// the command line.
//
// It trusts nothing that it decodes: lengths are checked before parsing, depth
// before recursion, and a message that is not wholly understood is an error and
// not half a message. It opens no file, reaches no network and keeps no clock of
// its own. What it decides, others carry out: fsaccess asks [FSPolicy] before it
// touches a path, the fetch broker asks [NetPolicy], the enclave counts by a
// [RunState].
//
// Start with [ParsePolicy] for a policy somebody wrote as JSON, [Level] and
// [Limits] for what a run may use, and [Code] for what went wrong.
package protocol
