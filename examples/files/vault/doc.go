// Package vault has the user's secrets: their list in the settings, and the tools that use them. A value is
// typed once, goes into the browser's encrypted store, and is shown never again.
package vault
