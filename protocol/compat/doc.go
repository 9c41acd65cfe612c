// Package compat translates the dialects of other systems: the messages and options of Enclave's
// browser library, those of the Browser Tool Calling Protocol (BTCP) with its error numbers, and
// the error names of PML. It converts each to the types of package protocol and back. Bailey's
// other packages do not depend on it.
//
// It trusts a dialect's messages no more than package protocol trusts its own. They are decoded by
// the same strict reader, and anything that would widen a policy, such as a sandbox flag or a CSP
// source, is an error. It runs no code and sends no message.
package compat
