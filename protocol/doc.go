// Package protocol contains the types that several of Bailey's packages share: capabilities, path
// and host patterns, the policy for files, limits and levels, tools, results, errors and traces. It
// is plain Go and holds no JavaScript value, so a page and the command line use the same types and
// run the same tests. Policies are read, explained and rendered by package sandbox/policy.
//
// The package trusts no data that it decodes. It checks lengths before parsing and depth before
// recursion, and it returns an error for a message that it does not understand completely. It opens
// no file, opens no connection and runs no clock of its own. Other packages enforce its decisions:
// fsaccess calls [FSPolicy] before it touches a path, and an enclave counts against [Limits].
//
// Start with [Tool] for a function that code or a model may call, [Level] and [Limits] for the
// resources of a run, and [Code] for errors.
package protocol
