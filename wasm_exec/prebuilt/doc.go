// Prebuilt is Bailey for pages that hold no Go: `make dist` builds it into
// bailey.wasm, beside the loader, api.mjs and its types. A page imports load
// from api.mjs and gets document(element), markdown(text), run(code) and
// enclave(options).
//
// It hands its functions to the one page that started it, by a name that the
// page chose, and to nobody else.
package main
