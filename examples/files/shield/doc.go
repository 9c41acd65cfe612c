// Package shield shows the servers that the page can reach, the attempts that were blocked, and the
// layers that hold.
package shield
