// Command wasm_exec makes a web page from a Go program.
//
//	go run github.com/bailey-go/bailey/wasm_exec build ./cmd/app -o dist
//	go run github.com/bailey-go/bailey/wasm_exec serve dist
//	go run github.com/bailey-go/bailey/wasm_exec dev ./cmd/app
//	go run github.com/bailey-go/bailey/wasm_exec headers -for nginx
//	go run github.com/bailey-go/bailey/wasm_exec init ./cmd/app
//	go run github.com/bailey-go/bailey/wasm_exec size dist -max 1250KB
//	go run github.com/bailey-go/bailey/wasm_exec enclave -level secure -o dist/enclave
//	go run github.com/bailey-go/bailey/wasm_exec apps -embed https://app.example -o apps
//
// build compiles with the Go toolchain (not TinyGo, which has another runtime and wasm_exec.js)
// and takes the wasm_exec.js of the same toolchain. It names files by their content, compresses
// them, and writes the manifest that the loader reads. serve serves the result on this machine,
// with the headers of package [github.com/bailey-go/bailey/headers]. enclave writes the page of
// an enclave that has a page of its own, and its headers. apps does the same for the sandbox proxy of
// pages of tools (iframe.AppOptions.Proxy), which must be on another origin than the page.
//
// serve -apps 127.0.0.1:8081 and dev -apps 127.0.0.1:8081 serve that proxy on this machine, under the name
// localhost, and let the pages show it. The proxy for the page at /shop/ is at http://localhost:8081/shop/. Apps
// can have the hosts that the page's own headers list, if the user agrees.
//
// serve -relay also fetches web pages for the pages that it serves, because most sites do not let a page of
// another origin read them. It prints the relay's address with a new token, for the settings of the page. It asks
// addresses on the internet alone, sends nothing of the page but the address and a search engine its key, and writes
// a line for each request.
//
// build -cold "example.com/app/...,!example.com/app/draw" compiles packages without inlining, which makes a large page
// smaller and these packages slower. build -lines keeps the lines of stack traces.
//
// dev is for the work on a program. It serves at once and builds a page when it is opened. The
// document shows the progress. Then it watches the Go files of the program and of its local
// modules, the embedded files, the folder web, policy.json, headers.json and offline.json. After a change it
// builds again and the page reloads. A compile error shows above the page with its file, line and
// source, and the page keeps running. The headers are those of serve. Binaries keep the names of
// functions, for the stacks of traps. Files are not compressed, because they do not leave the
// machine, and there is no service worker, because its copies could hide a change. A build stays
// in -o, and the next dev serves it at once if nothing has changed. Files of earlier builds are
// removed there, so dev takes only folders that are new, empty or its own.
//
//	wasm_exec dev ./cmd/app                           the page at /
//	wasm_exec dev ./cmd/app ./cmd/admin               pages at /app/ and /admin/
//	wasm_exec dev shop=./cmd/app,name=shop,web=./web  a path, the binary's name, more files
//	wasm_exec dev -provide "/app/tools/ build/tools make tools" ./cmd/app ./cmd/admin
//
// The last one runs make tools when a file below /app/tools/ is first requested, and serves the
// files of build/tools there, with the headers of the page.
//
// A package with a policy.json, as package sandbox/policy reads it, needs no headers.json: its headers
// follow from the granted hosts and features, and from the section page. They open nothing that the
// policy always denies. A package with both files is an error. headers -policy FILE prints the same
// for a server.
//
// A package with an offline.json beside its headers.json becomes a page that works without a
// network. build writes offline-worker.js, a service worker with the list of the build's files
// and their hashes. The loader registers it.
//
//	{"keep": ["words.json", "data/"]}
//
// {} stores the files of the build. keep lists further files, which may change without a build.
// A file is stored together with the page. The files of a folder (a name that ends in a slash)
// are stored when they are first used. {"remove": true} writes a worker that deletes the copies
// of earlier builds and unregisters itself.
//
// The worker requests every file from the network first, except the files that are named by
// their content. It requests documents past the browser's own cache. As long as the server
// answers, its headers apply, and a copy has the headers that were last received. When another
// build has been stored, the page's window gets the event "bailey-update". The page decides how
// to react, for example by offering a reload. The worker looks for another build at each load,
// each hour, when the page is shown again and when the network is back.
//
// The loader, bailey.js, is one small script without dependencies:
//
//	<script src="bailey.js" data-wasm="main.wasm"></script>
//
// or, as a module:
//
//	import {start} from "./bailey.mjs";
//	const program = await start({wasm: "main.wasm"});
//	const {code} = await program.exited;
//
// The loader trusts the files that build wrote. It never runs an inline script, parses HTML,
// evaluates text, or requests anything from another origin. It therefore works under the
// strictest policy that still allows WebAssembly.
package main
