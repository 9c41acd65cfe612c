// Package gate is the only way from a tool's call to an effect. It checks the call against the
// policy, asks the user where the policy requires it, and creates a [Permit]. Every function that
// touches the folder or the network takes a permit as an argument, and only this package can create
// a valid one.
//
// The package trusts the policy, the asker and the folder that it was given. It does not trust a
// tool to have only the effects that it declared: each effect is checked again against the permit,
// and an undeclared effect is a violation.
package gate
