// Prebuilt is Bailey for pages that hold no Go: `make dist` builds it into
// bailey.wasm, beside the loader, api.mjs and its types; api.d.ts describes all
// that there is:
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
// markdown(text) is the sanitised HTML alone, enclave(options) a place for code
// with tools and limits of its own. examples/plain is a whole page.
//
// It hands its functions to the one page that started it, by a name that the
// page chose, and to nobody else.
package main
