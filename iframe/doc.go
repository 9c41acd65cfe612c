// Package iframe shows what a model wrote without letting it act.
//
// A [Document] is one place in a page that holds a whole conversation. Each
// answer is a [Section], an io.Writer: Markdown goes in as it comes from the
// model, and safe, finished blocks come out, behind two frames whose origins are
// opaque and whose policy lets nothing be loaded. [NewDocument] and
// [Document.Section] are the two functions most programs need:
//
//	view, err := iframe.NewDocument(ctx, parent, iframe.DocumentOptions{OnLink: confirm})
//	…
//	answer := view.Section("answer-1")
//	_, err = io.Copy(answer, modelStream)
//	err = answer.Close()
//
// An [Enclave] runs JavaScript that nobody has read, an [EnclavePool] many such
// codes for one trust domain:
//
//	enc, err := iframe.NewEnclave(ctx, iframe.EnclaveOptions{Level: protocol.Secure, Tools: tools})
//	…
//	res, err := enc.Run(ctx, code, iframe.RunOptions{})
//
// The code has the language and the tools it was given, no page and no network, and
// ends for the caller when its time is over. [NewDOMEnclave] is for code that needs a document;
// it is held less tightly, and says so.
//
// The package trusts its own frame scripts, the sanitiser of package markdown
// and the browser. It does not trust the Markdown, the HTML in it, or anything
// that comes back out of a frame. It never follows a link, loads an image or
// writes the clipboard unless the app said so: links and images reach the app
// as calls.
//
// A page with a Content-Security-Policy must list [ScriptHashes] in script-src;
// NewDocument says so when it must. An enclave can have a page of its own instead, on
// this site or another, with headers of its own: [EnclavePage]. Outside a browser documents and
// enclaves are errors that are [errors.ErrUnsupported]; what makes text works everywhere:
// [ScriptHashes], [EnclavePage], and [Srcdoc], the static way, which runs no script.
package iframe
