// Package typescript removes the types of TypeScript with the JavaScript library Sucrase, for the code of the tool
// code_run and of the npm package. Nothing is checked but the syntax.
//
// The library is a guest, as those of package iframe/guests are: it runs in an enclave or in QuickJS, without tools and
// without a network. Its output is code that runs where the model's own code runs, and with the same rights, so a library
// that lies gains nothing. It is not part of a page's program: the command wasm_exec build copies it into guests/ of the
// page, 60 KB in brotli, and the page loads it when a text first needs it. Outside of a browser it is embedded.
//
// Removed text becomes blanks, so each line and column of an error is that of the source. Enums and parameters that are
// properties are translated on their own lines. Namespaces are an error.
package typescript
