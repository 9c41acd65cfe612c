// Package asset reads text files that a page serves beside its program. It trusts them as the page itself.
package asset
