// Prebuilt is Bailey for pages without Go. `make dist` builds it into an npm package: bailey.wasm, the
// loader, api.mjs and its types, and element.mjs with the element <bailey-document>. api.d.mts describes
// the whole API:
//
//	import { load } from "./api.mjs";
//	const bailey = await load();
//
//	const view = await bailey.document(document.getElementById("answer"));
//	const answer = await view.section("answer-1");
//	await answer.write("# Hello\n\nfrom a *model*.");
//	await answer.close();
//
//	const result = await bailey.run("return [1, 2, 3].length");
//	if (result.success) console.log(result.value); // 3
//
// markdown(text) returns only the sanitised HTML. enclave(options) returns an enclave for code
// with tools and limits of its own. folder opens folders whose changes can be undone. examples/plain is a complete page.
//
// The program gives its functions only to the page that started it, under a name that the page
// chose.
package main
