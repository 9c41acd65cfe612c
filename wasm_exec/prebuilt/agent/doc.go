// Agent is the program agent.wasm of the npm package: all of bailey.wasm, and box(), which gives a page without Go a box:
// a model with tools below a policy, sessions, questions of consent and undo. agent.d.mts in ../web describes it:
//
//	import { load } from 'bailey/agent';
//	const bailey = await load();
//
//	const box = await bailey.box({ model: { provider: 'anthropic', name, key }, folder, ask });
//	const session = await box.session();
//	for await (const chunk of session.send('tidy up my notes')) show(chunk);
//
// It is a program of its own, so that bailey.wasm stays small. The page is trusted, with its tools and its answers. The
// model is not: the arguments of its calls are checked against the schema before a tool of the page gets them. A tool
// or an answer of the page that throws, never ends or is no value of JSON fails the call, or refuses it.
package main
