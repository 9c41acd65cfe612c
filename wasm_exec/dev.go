package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// devPrefix is the path of the server's own files. A site never sends a name that begins with a
// dot, so no file of a page has such a path.
const devPrefix = "/.dev/"

func devCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("dev", flag.ContinueOnError)
	addr := f.String("addr", "127.0.0.1:8080", "`address` to listen on; port 0 takes any free one")
	public := f.Bool("public", false, "allow an address that other machines can reach; they then see the lines of source in error messages")
	apps := f.String("apps", "", "another `address`, such as 127.0.0.1:8081, for the sandbox proxy of pages of tools")
	out := f.String("o", "", "the `folder` for built pages (default a folder in the user's cache)")
	var o buildOptions
	f.StringVar(&o.name, "name", "main", "the binary's `name` on the page: main gives main.wasm")
	f.StringVar(&o.tags, "tags", "", "build `tags`, as for go build")
	f.StringVar(&o.ldflags, "ldflags", "", "more linker `flags` beside -w")
	var provided []*provision
	f.Func("provide", "\"PATH DIR COMMAND ...\": the first request for a file below PATH runs the command in the current folder\nand adds the files of DIR below PATH; may be repeated", func(text string) error {
		p, err := parseProvision(text)
		provided = append(provided, p)
		return err
	})
	rest, err := parse(f, args, stderr, -1, "[PATH=]PKG[,name=NAME][,web=DIR] ...")
	if err != nil {
		return err
	}
	if *out == "" {
		if *out, err = devFolder(); err != nil {
			return fmt.Errorf("dev: -o is needed: %w", err)
		}
	}
	d := &devServer{ctx: ctx, log: stderr, provided: provided, building: make(chan struct{}, 2)}
	if d.pages, err = devPages(rest, *out, o); err != nil {
		return fmt.Errorf("dev: %w", err)
	}
	if err := d.open(*out, *public); err != nil {
		return fmt.Errorf("dev: %w", err)
	}
	defer d.Close()
	l, err := listen(ctx, *addr, *public, stdout)
	if err != nil {
		return fmt.Errorf("dev: %w", err)
	}
	fmt.Fprintf(stdout, "http://%s/ builds a page when it is opened, and again after a change (Ctrl-C ends it)\n", l.Addr())
	if err := serveApps(ctx, l, d, *apps, *public, d.use, d.showProxies, stdout); err != nil {
		return fmt.Errorf("dev: %w", err)
	}
	return nil
}

// use returns what the page at a path uses, as far as it was built.
func (d *devServer) use(clean string) (siteUse, error) {
	p := d.page(clean)
	if p == nil {
		return siteUse{}, nil
	}
	return p.site.use(cmp.Or(p.name, "."))
}

// showProxies lets all pages show frames of the proxies at a host.
func (d *devServer) showProxies(host string) {
	d.site.proxies = host
	for _, p := range d.pages {
		p.site.proxies = host
	}
}

// devFolder returns a folder in the user's cache that belongs to the current folder.
func devFolder() (string, error) {
	cache := defaultCache()
	if cache == "" {
		return "", errors.New("there is no folder for caches")
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(here))
	return filepath.Join(cache, "dev", filepath.Base(here)+"-"+hex.EncodeToString(sum[:4])), nil
}

// devPages returns the pages of the command's arguments. One package without a path is the page
// at the root. Otherwise each page has a folder, which is named like the package's folder unless
// the argument says otherwise.
func devPages(args []string, out string, o buildOptions) ([]*devPage, error) {
	var pages []*devPage
	seen := map[string]bool{}
	for _, arg := range args {
		fields := strings.Split(arg, ",")
		name, pkg, named := strings.Cut(fields[0], "=")
		if !named {
			pkg, name = name, ""
		}
		if pkg == "" {
			return nil, fmt.Errorf("%q names no package", arg)
		}
		p := &devPage{pkg: pkg, options: o}
		for _, field := range fields[1:] {
			key, value, _ := strings.Cut(field, "=")
			switch key {
			case "name":
				p.options.name = value
			case "web":
				p.options.web = value
			default:
				return nil, fmt.Errorf("%q: %q is neither name=NAME nor web=DIR", arg, field)
			}
		}
		if !named && len(args) > 1 {
			abs, err := filepath.Abs(pkg)
			if err != nil {
				return nil, err
			}
			name = filepath.Base(abs)
		}
		name = strings.Trim(name, "/")
		if strings.ContainsAny(name, "/\\%?#:") || strings.HasPrefix(name, ".") || named && name == "" {
			return nil, fmt.Errorf("%q: %q is not the name of a folder", arg, name)
		}
		if seen[name] {
			return nil, fmt.Errorf("two pages are called %q: name one with PATH=%s", name, pkg)
		}
		seen[name] = true
		p.name, p.path = name, path.Join("/", name)
		if name != "" {
			p.path += "/"
		}
		p.options.out, p.options.page, p.options.dev = filepath.Join(out, name), p.path, true
		if name == "" { // apart from the folders of named pages
			p.options.out = filepath.Join(out, rootFolder)
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// rootFolder is the folder of the page at the root. It cannot be the name of a page.
const rootFolder = "%root"

// devServer serves pages that it builds when they are opened.
type devServer struct {
	ctx      context.Context
	log      io.Writer
	site     *site
	pages    []*devPage
	provided []*provision
	building chan struct{} // holds a value for each build that runs

	watch sync.Once

	mu   sync.Mutex
	made map[string]*made
}

// open opens the folders of the pages below out.
func (d *devServer) open(out string, public bool) error {
	for _, p := range d.pages {
		dir := p.pkg
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			dir = "" // an import path, whose folder is found when the page is built
		}
		if err := p.options.claim(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var err error
	if d.site, err = newSite(out); err != nil {
		return err
	}
	d.site.public, d.site.names, d.site.files = public, d.names, d.files
	for _, p := range d.pages {
		p.server, p.site = d, d.site
		if p.name != "" {
			continue
		}
		if p.site, err = newSite(p.options.out); err != nil {
			return err
		}
		p.site.public = public
	}
	return nil
}

func (d *devServer) Close() error {
	for _, p := range d.pages {
		if p.site != d.site && p.site != nil {
			p.site.Close()
		}
	}
	return d.site.Close()
}

// names returns the names of the pages, for the list at the root.
func (d *devServer) names() []string {
	var names []string
	for _, p := range d.pages {
		names = append(names, p.name)
	}
	return names
}

// files returns the folder with a page's own files, also before its first build.
func (d *devServer) files(name string) fs.FS {
	for _, p := range d.pages {
		if p.name != name {
			continue
		}
		web := p.options.web
		if web == "" {
			web = filepath.Join(p.pkg, "web")
		}
		return os.DirFS(web)
	}
	return nil
}

func (d *devServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !d.site.public && !localName(r.Host) {
		d.site.ServeHTTP(w, r) // refuses it
		return
	}
	clean := path.Clean("/" + r.URL.Path)
	if name, ok := strings.CutPrefix(clean, devPrefix); ok {
		d.own(w, r, name)
		return
	}
	p := d.page(clean)
	if p == nil {
		d.site.ServeHTTP(w, r)
		return
	}
	if p.name != "" && clean+"/" == p.path && !strings.HasSuffix(r.URL.Path, "/") {
		http.Redirect(w, r, p.path, http.StatusMovedPermanently)
		return
	}
	p.check()
	if isDocument(r) {
		if p.start().State != devReady {
			d.wait(w, p)
			return
		}
	} else if state := p.wait(r.Context()); state.State != devReady {
		http.Error(w, "the page could not be built: "+state.Text, http.StatusServiceUnavailable)
		return
	}
	for _, x := range d.provided {
		if name, ok := strings.CutPrefix(clean, x.path); ok {
			x.serve(w, r, d, p, name)
			return
		}
	}
	p.site.ServeHTTP(w, r)
}

// page returns the page that a clean path belongs to, or nil.
func (d *devServer) page(clean string) *devPage {
	for _, p := range d.pages {
		if strings.HasPrefix(clean+"/", p.path) {
			return p
		}
	}
	return nil
}

// isDocument reports whether a request is for a document, which can show the state of the build.
func isDocument(r *http.Request) bool {
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "" {
		return dest == "document" || dest == "iframe"
	}
	ext := path.Ext(r.URL.Path)
	return strings.Contains(r.Header.Get("Accept"), "text/html") && (ext == "" || ext == ".html")
}

// own answers a request for one of the server's own files.
func (d *devServer) own(w http.ResponseWriter, r *http.Request, name string) {
	h, err := pageHeaders(siteUse{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for _, x := range h.List() {
		w.Header().Set(x.Name, x.Value)
	}
	w.Header().Set("Cache-Control", "no-store")
	for _, p := range d.pages {
		switch {
		case name == "events" && r.URL.Query().Get("page") == p.path:
			p.events(w, r)
			return
		case name == "wait.js" && r.URL.Query().Get("page") == p.path:
			w.Header().Set("Content-Type", contentType(name))
			w.Write(devScript(p.path, ""))
			return
		}
	}
	http.NotFound(w, r)
}

// wait sends a document that shows the build, and that loads the page when it is ready.
func (d *devServer) wait(w http.ResponseWriter, p *devPage) {
	h, err := pageHeaders(siteUse{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for _, x := range h.List() {
		w.Header().Set(x.Name, x.Value)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	io.WriteString(w, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"+
		"<meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\"><title>Building</title>"+
		"<noscript><meta http-equiv=\"refresh\" content=\"2\">Building. This page loads itself again.</noscript>"+
		"<body><script src=\""+devPrefix+"wait.js?page="+p.path+"\"></script>")
}

// devScript returns the script of a page that the server watches. version is the page's build,
// or empty for the document that waits for one.
func devScript(page, version string) []byte {
	data, err := json.Marshal(map[string]string{"page": page, "version": version, "css": bareCSS(mustRead("dev.css"))})
	if err != nil {
		panic("wasm_exec: " + err.Error()) // the values are strings only
	}
	return []byte("// Bailey's dev.js. Apache-2.0.\nglobalThis.baileyDev = " + string(data) + ";\n" + bare(mustRead("dev.js")))
}

// devClient adds the script to the page's loader, and the hash of all files to the manifest.
func (b *builder) devClient(page string) {
	if b.err != nil {
		return
	}
	h := sha256.New()
	for _, name := range sortedKeys(b.wrote) {
		fmt.Fprintln(h, name, b.wrote[name])
	}
	if data, err := os.ReadFile(filepath.Join(b.dir, headersName)); err == nil {
		fmt.Fprintln(h, headersName, integrity(data))
	}
	b.next.Dev = hex.EncodeToString(h.Sum(nil)[:8])
	b.plain("bailey.js", append(loaderJS(), devScript(page, b.next.Dev)...))
}

// provision is a folder of files that a command makes when the first of them is requested.
type provision struct {
	path    string // of the URL, such as /files/tools/
	dir     string
	command string
}

func parseProvision(text string) (*provision, error) {
	fields := strings.Fields(text)
	if len(fields) < 3 || !strings.HasPrefix(fields[0], "/") || !strings.HasSuffix(fields[0], "/") {
		return nil, errors.New(`it must be "/PATH/ DIR COMMAND ..."`)
	}
	return &provision{path: fields[0], dir: fields[1], command: strings.Join(fields[2:], " ")}, nil
}

// serve sends a file of the folder with the headers of its page p.
func (x *provision) serve(w http.ResponseWriter, r *http.Request, d *devServer, p *devPage, name string) {
	err := d.make(x.command)
	var files *site
	if err == nil {
		files, err = newSite(x.dir)
	}
	if err != nil {
		fmt.Fprintf(d.log, "wasm_exec dev: %v\n", err)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer files.Close()
	files.public, files.headersOf, files.headersIn = d.site.public, p.site, p.name
	r = r.Clone(r.Context())
	r.URL.Path = "/" + name
	files.ServeHTTP(w, r)
}

// make runs a command in the current folder, once. Another call for the same command waits for
// its end. After a failure the next call runs it again.
func (d *devServer) make(command string) error {
	d.mu.Lock()
	if d.made == nil {
		d.made = map[string]*made{}
	}
	m := d.made[command]
	if m == nil {
		m = &made{}
		d.made[command] = m
	}
	d.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done {
		return nil
	}
	fmt.Fprintf(d.log, "wasm_exec dev: %s\n", command)
	fields := strings.Fields(command)
	cmd := exec.CommandContext(d.ctx, fields[0], fields[1:]...)
	cmd.Stdout, cmd.Stderr = d.log, d.log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	m.done = true
	return nil
}

type made struct {
	mu   sync.Mutex
	done bool
}

// removeOthers removes the files of the folder that this build and the previous one do not
// name, such as a copy of a file that was deleted. The folder is dev's own, see claimDevFolder.
func (b *builder) removeOthers() {
	if b.err != nil {
		return
	}
	keep := b.next.paths()
	for _, name := range b.next.Previous {
		keep[name] = true
	}
	b.err = filepath.WalkDir(b.dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(b.dir, p)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		own := name == manifestName || name == headersName || strings.HasPrefix(name, ".")
		if own || keep[name] || b.wrote[name] != "" {
			return nil
		}
		return os.Remove(p)
	})
}
