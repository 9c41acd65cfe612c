// Package e2e drives Chromium from native Go for end-to-end tests: launch, open
// a page, click, type, look, and afterwards ask which hosts were resolved and
// connected to.
//
//	b, err := e2e.Launch(ctx, e2e.Options{})
//	defer b.Close()
//	site := e2e.Serve("dist", nil)
//	defer site.Close()
//	p, err := b.Page(ctx, site.URL+"/")
//	err = p.Click(ctx, "#send")
//	err = p.Wait(ctx, ".answer")
//	png, err := p.Screenshot(ctx, e2e.Shot{})
//
// Each browser has a profile of its own, in a folder that Close removes, and
// talks to nobody but the pages it is told to open. It trusts those pages: as
// root, Chromium runs without its process sandbox. Never browse the web with it.
package e2e
