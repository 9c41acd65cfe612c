// Package publicset measures package secrets against the examples of gitleaks' rules
// (MIT), at the version that go.mod pins. They are not in this tree: gitleaks' own
// generator is built from the module cache with its check replaced by one that writes the
// examples down, so that a version's examples are facts about it, and the same each time.
//
// It is a module of its own, for development: nobody who imports Bailey pays for it.
package publicset
