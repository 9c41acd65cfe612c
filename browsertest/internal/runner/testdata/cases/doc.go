// Package cases holds tests that end in every way in which a test can end. runner_test selects the
// ones that it needs.
package cases
