// Package settings compares Bailey's reading of a settings file with that of sandbox-runtime. It
// has only tests: they run the npm package beside package policy, in Node.js.
package settings
