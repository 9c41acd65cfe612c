// Package iframe shows text from a language model and runs code from it, without letting either
// act on the page.
//
// A [Document] is an element of a page that shows a whole conversation. Each answer is a
// [Section], an io.Writer. The app writes Markdown to it as it arrives from the model. The
// section shows safe, finished blocks inside two nested frames with opaque origins and a policy
// that permits no loading. Most programs need only [NewDocument] and [Document.Section]:
//
//	view, err := iframe.NewDocument(ctx, parent, iframe.DocumentOptions{OnLink: confirm})
//	…
//	answer := view.Section("answer-1")
//	_, err = io.Copy(answer, modelStream)
//	err = answer.Close()
//
// An [Enclave] runs JavaScript that has not been reviewed. An [EnclavePool] runs many such
// programs for one trust domain:
//
//	enc, err := iframe.NewEnclave(ctx, iframe.EnclaveOptions{Level: protocol.Secure, Tools: tools})
//	…
//	res, err := enc.Run(ctx, code, iframe.RunOptions{})
//
// The code has the JavaScript language and the tools it was given. It has no page and no
// network. Run returns when the code's time is over, even if its worker is still busy.
// [NewDOMEnclave] is for code that needs a document. Its isolation is weaker, and its
// documentation lists the differences.
//
// The package trusts its own frame scripts, the sanitiser of package markdown and the browser.
// It does not trust the Markdown, the HTML inside it, or any message from a frame. It never
// follows a link or loads an image by itself: links and images reach the app as calls of
// [DocumentOptions.OnLink] and [DocumentOptions.OnImage]. The clipboard receives only the text of
// a code block, when its copy button is pressed.
//
// A page with a Content-Security-Policy must list [ScriptHashes] in script-src. If it does not,
// NewDocument returns an error with the directive to add. An enclave can instead have a page of
// its own, on this site or another, with its own headers: see [EnclaveOptions.Page]. Outside a
// browser, NewDocument and NewEnclave return an error that matches [errors.ErrUnsupported].
// [ScriptHashes], [EnclaveOptions.Page] and [Srcdoc] only make text, so they work everywhere. A
// Srcdoc is a static document without scripts.
package iframe
