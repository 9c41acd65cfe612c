// Package dialects translates what two other systems write: the options of Enclave's browser
// library, and the error names of Casys PML. It runs no code and sends nothing.
package dialects
