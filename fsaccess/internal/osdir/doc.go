// Package osdir is the source for a folder of the operating system. It follows no symbolic
// link, and no name leads out of the folder. In a browser it opens nothing.
package osdir
