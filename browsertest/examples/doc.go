// Package examples tests the examples end to end, as `make run` serves them: in Chromium, with
// their real headers, by mouse and keyboard.
package examples
