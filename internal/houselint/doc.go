// Command houselint measures how easy the source is to read, and fails if a figure is over its
// limit. It counts exported names of public packages, aliases of internal types, exported names
// that nothing uses, exported names without documentation, types whose methods lie in many files,
// and words that hide the subject of a sentence: in comments, in each paper for readers, and in the texts of errors.
//
// It parses every Go file below the working folder, in all modules of the repository, but does not
// resolve types. Folders named build or node_modules, or with a leading dot, are skipped. It never
// runs or changes code.
package main
