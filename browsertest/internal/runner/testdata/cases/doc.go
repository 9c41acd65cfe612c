// Package cases holds tests that end in every way a test can end; runner_test
// names those it wants.
package cases
