// Package compat speaks the dialects of other systems at the edge: the messages and
// options of Enclave's browser library, those of the Browser Tool Calling Protocol
// (BTCP) with its error numbers, and the error names of PML. Each is translated
// into the words of package protocol and back, and nothing inside knows of them.
//
// It trusts a dialect's messages no more than protocol trusts its own: they are
// decoded by the same strict reader, and what would widen a policy, such as a
// sandbox flag or a CSP source, is an error. It runs nothing and posts nothing.
package compat
