// Package place talks with a box elsewhere: a bailey-box on this computer. It copies the folder's files
// to it, reads its answers, and holds its changes apart from the folder until the user has reviewed them.
//
// It trusts nothing that a box sends: a name, a size, an event or a changed file. It has no part of the page.
package place
