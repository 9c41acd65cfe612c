// Package spent shows the tokens and the money that a conversation has used, and sets the prices that the money is
// counted by. It trusts the numbers of the provider, within the limits of package sandbox, and sends nothing.
package spent
