// Package gate is the one way from a tool's call to an effect: it checks the call
// against the policy, asks the person where the policy says so, and mints a
// [Permit]. Whatever touches the folder or the network takes a permit as an
// argument, and nothing outside of this package can make one that holds.
//
// It trusts the policy, the asker and the folder that it was given. It trusts no
// tool to do what it said it needs: each effect is checked again against the permit,
// and what does not match is a violation.
package gate
