// Package notify shows notifications and the state of the network, and turns speech into text.
package notify
