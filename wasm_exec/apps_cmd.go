package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/hosted"
)

// appsUse describes the sandbox proxy for pages of tools whose page is in a folder.
type appsUse struct {
	Embedders   []string `json:"embedders"`
	Connect     []string `json:"connect,omitempty"`     // origins, as the next two
	Resources   []string `json:"resources,omitempty"`   // the most that an app can have
	Frames      []string `json:"frames,omitempty"`      //
	Permissions []string `json:"permissions,omitempty"` // features of the browser
}

func (u appsUse) page() (hosted.Page, error) {
	return hosted.Proxy(frame.ProxyPage{Hosts: u.Embedders, Connect: u.Connect, Resources: u.Resources, Frames: u.Frames, Features: u.Permissions})
}

func (u appsUse) headers() (headers.Headers, error) {
	page, err := u.page()
	if err != nil {
		return headers.Headers{}, fmt.Errorf("apps: %w", err)
	}
	return parsedHeaders(page)
}

// parsedHeaders returns the headers of a page of package hosted.
func parsedHeaders(page hosted.Page) (headers.Headers, error) {
	var list []headers.Header
	for _, name := range slices.Sorted(maps.Keys(page.Header)) {
		list = append(list, headers.Header{Name: name, Value: page.Header[name][0]})
	}
	return headers.Parse(list)
}

// appsCommand writes a folder with the sandbox proxy for pages of tools and its headers.json, from which
// the commands serve and headers derive the headers to send with it.
func appsCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("apps", flag.ContinueOnError)
	var u appsUse
	for _, x := range []struct {
		name, usage string
		to          *[]string
	}{
		{"embed", "an `origin` whose pages show apps, such as https://app.example (repeat for more)", &u.Embedders},
		{"connect", "an `origin` to which an app may connect, if the user agrees (repeat for more)", &u.Connect},
		{"resources", "an `origin` of scripts, styles, images, fonts and media, likewise (repeat for more)", &u.Resources},
		{"frames", "an `origin` of frames in an app, likewise (repeat for more)", &u.Frames},
		{"permission", "a `feature` of the browser, likewise: camera, clipboard-write, geolocation or microphone (repeat for more)", &u.Permissions},
	} {
		f.Func(x.name, x.usage, func(s string) error {
			*x.to = append(*x.to, s)
			return nil
		})
	}
	dir := f.String("o", "", "the `folder` to write into")
	if _, err := parse(f, args, stderr, 0, "-embed ORIGIN -o DIR"); err != nil {
		return err
	}
	if *dir == "" {
		fmt.Fprintln(stderr, "wasm_exec apps: name a folder of its own with -o")
		return errUsage
	}
	page, err := u.page()
	if err != nil {
		return fmt.Errorf("apps: %w", err)
	}
	return writeHosted(*dir, page, map[string]appsUse{"apps": u}, stdout)
}

// proxySite serves sandbox proxies beside a site, at another port and another name of this machine. Below
// each path of the site is the proxy for the page there. It lets apps have the most that the page's own
// headers allow.
type proxySite struct {
	embedders []string
	use       func(clean string) (siteUse, error) // of the page at a path
}

func (p *proxySite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	if !localName(r.Host) {
		http.Error(w, "this server answers to localhost and 127.0.0.1 only", http.StatusMisdirectedRequest)
		return
	}
	use, err := p.use(path.Clean("/" + r.URL.Path))
	var page hosted.Page
	if err == nil {
		page, err = appsUse{Embedders: p.embedders, Connect: sources(use.Connect, "https", "wss"), Resources: sources(use.Images, "https"), Frames: sources(use.Frames, "https")}.page()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	maps.Copy(w.Header(), page.Header)
	io.WriteString(w, page.HTML)
}

// sources returns the origins of host patterns. Those of this machine have plain http as well.
func sources(hosts []string, schemes ...string) []string {
	var out []string
	for _, h := range hosts {
		if h == "self" {
			continue
		}
		list := schemes
		if name, _, _ := strings.Cut(h, ":"); name == "localhost" || name == "127.0.0.1" || strings.HasSuffix(name, ".localhost") {
			list = []string{"http"}
		}
		for _, scheme := range list {
			out = append(out, scheme+"://"+h)
		}
	}
	return out
}

// serveApps serves a site at l, and its proxies at addr if that is not empty, until ctx ends. It lets the
// pages of the site show frames of the proxies.
func serveApps(ctx context.Context, l net.Listener, site http.Handler, addr string, public bool, use func(string) (siteUse, error), frames func(host string), stdout io.Writer) error {
	if addr == "" {
		return serve(ctx, l, site)
	}
	if public {
		l.Close()
		return errors.New("-apps is for this machine alone, and -public lets others in: write the proxy with \"wasm_exec apps\" and serve it on an origin of its own")
	}
	second, err := listen(ctx, addr, false, stdout)
	if err != nil {
		l.Close()
		return err
	}
	port := func(l net.Listener) string { return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) }
	host := "localhost:" + port(second)
	frames(host)
	proxies := &proxySite{use: use, embedders: []string{"http://127.0.0.1:" + port(l), "http://localhost:" + port(l)}}
	fmt.Fprintf(stdout, "the proxy for pages of tools (AppOptions.Proxy): http://%s/ and the path of the page\n", host)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 2)
	go func() { done <- serve(ctx, second, proxies) }()
	go func() { done <- serve(ctx, l, site) }()
	err = <-done
	cancel()
	return errors.Join(err, <-done)
}
