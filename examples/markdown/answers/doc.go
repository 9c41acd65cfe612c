// Package answers holds answers as a model might give them. The example streams them, and the
// benches time them. Most are everyday answers. One is in four languages, one has notes and
// references that come late, and one is hostile.
//
// The texts are data of the example. They are never trusted, and are handled like a model's own
// output.
package answers
