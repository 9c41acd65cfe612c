// Package settings compares what Bailey reads in a settings file with what
// sandbox-runtime reads in it. It has tests only: they run the npm package beside
// package policy, in Node.js.
package settings
