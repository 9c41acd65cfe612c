// Package frontmatter compares the readings of package internal/frontmatter with those of a YAML library.
package frontmatter
