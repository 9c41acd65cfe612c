// Package e2e drives Chromium from native Go for end-to-end tests. It launches the browser, opens
// pages, clicks, types and takes screenshots. Afterwards it returns the hosts that the browser has
// resolved and connected to.
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
// Each browser has a profile of its own, in a folder that Close removes, and makes no requests but
// those of the pages it opens. It trusts those pages: as root, Chromium runs without its process
// sandbox. Never browse the web with it.
package e2e
