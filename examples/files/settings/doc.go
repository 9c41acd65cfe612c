// Package settings keeps what the user chose: the provider of the model, the theme, and the lasting
// answers about each folder. It shows them, and stores them in the browser's localStorage.
package settings
