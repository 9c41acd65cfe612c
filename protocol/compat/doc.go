// Package compat converts configurations of the Browser Tool
// Calling Protocol (BTCP) to those of Bailey. iframe and sandbox/policy use it.
//
// Only narrowing is accepted. Anything that would widen a policy, such as a sandbox flag or a CSP
// source, is an error. The package runs no code and sends no message.
package compat
