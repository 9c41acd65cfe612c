// Package dialog shows the one dialogue of the files example, and its short notices.
package dialog
