// Package page has the API of bailey.wasm and of agent.wasm for pages without Go: documents, Markdown, runs, enclaves and
// folders. It trusts the page that started the program, and no code or file. Nothing that the page passes in ends the
// program: a wrong value, a getter that throws and a closed object are errors of the call.
package page
