// Package protocol contains the types that Bailey's other packages share: capabilities and the
// policy that grants them, limits and levels, tools, errors, traces and sessions. It is plain Go and holds no JavaScript value, so a page and
// the command line use the same policy and run the same tests.
//
// The package trusts no data that it decodes. It checks lengths before parsing and depth before
// recursion, and it returns an error for a message that it does not understand completely. It opens
// no file, opens no connection and runs no clock of its own. Other packages enforce its decisions:
// fsaccess calls [FSPolicy] before it touches a path, the fetch broker calls [NetPolicy], and an
// enclave counts against [Limits].
//
// Start with [ParsePolicy] for a policy in JSON, [Level] and [Limits] for the resources of a run,
// and [Code] for errors.
package protocol
