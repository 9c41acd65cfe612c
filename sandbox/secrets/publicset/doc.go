// Package publicset measures package secrets against the examples of gitleaks' rules (MIT), at the
// version that go.mod pins. The examples are not in this tree. Its test builds gitleaks' own
// generator from the module cache, with the generator's check replaced by code that writes the
// examples to a file. The examples of a version are therefore reproducible.
//
// It is a separate module for development, so it adds no dependency for users of Bailey.
package publicset
