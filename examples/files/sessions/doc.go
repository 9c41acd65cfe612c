// Package sessions holds the conversations of the open folder: their tabs, their menu, and the runs of
// the model in them.
package sessions
