package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// site is an http.Handler for built pages: one at the root, or one in each folder below it. It
// sends the compressed forms written by build, and the headers of the nearest headers.json
// above each page.
type site struct {
	root   *os.Root // prevents access to files outside it, also by symbolic links
	public bool
	// names, if set, returns the pages to list at the root instead of the folders.
	names func() []string
	// files, if set, returns the folder with the own files of a page in the list: what it says of itself.
	files func(name string) fs.FS
	// headersOf and headersIn, if set, are the site and the folder in it whose headers apply.
	headersOf *site
	headersIn string
	// proxies, if set, is the host of the sandbox proxies for pages of tools.
	proxies string
}

func (s *site) Close() error { return s.root.Close() }

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	// A foreign host name that resolves to this machine (DNS rebinding) is refused.
	if !s.public && !localName(r.Host) {
		http.Error(w, "this server answers to localhost and 127.0.0.1 only", http.StatusMisdirectedRequest)
		return
	}
	clean := path.Clean("/" + r.URL.Path)
	name := strings.TrimPrefix(clean, "/")
	if name == "" {
		name = "."
	}
	if err := s.setHeaders(w, name); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if hidden(name) {
		http.NotFound(w, r)
		return
	}
	st, err := s.root.Stat(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if st.IsDir() {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, "/"+name+"/", http.StatusMovedPermanently)
			return
		}
		if s.exists(path.Join(name, "index.html")) {
			s.file(w, r, path.Join(name, "index.html"))
			return
		}
		s.list(w, name)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/") {
		http.NotFound(w, r)
		return
	}
	s.file(w, r, name)
}

// setHeaders sets the headers of the nearest headers.json, from name's folder upwards.
func (s *site) setHeaders(w http.ResponseWriter, name string) error {
	if s.headersOf != nil {
		return s.headersOf.setHeaders(w, path.Clean(s.headersIn))
	}
	use, err := s.use(name)
	if err != nil {
		return err
	}
	if s.proxies != "" && use.Enclave == nil && use.Apps == nil {
		use.Frames, use.Connect = append(slices.Clone(use.Frames), s.proxies), append(slices.Clone(use.Connect), s.proxies)
	}
	h, err := pageHeaders(use)
	if err != nil {
		return err
	}
	for _, x := range h.List() {
		w.Header().Set(x.Name, x.Value)
	}
	return nil
}

// use returns the nearest headers.json, from name's folder upwards.
func (s *site) use(name string) (use siteUse, err error) {
	for dir := name; ; dir = path.Dir(dir) {
		data, err := s.root.ReadFile(path.Join(dir, headersName))
		if err == nil {
			if use, err = decodeUse(data); err != nil {
				return use, fmt.Errorf("%s: %w", path.Join(dir, headersName), err)
			}
			return use, nil
		}
		if dir == "." {
			return use, nil
		}
	}
}

// file sends one file in the smallest form that the client accepts.
func (s *site) file(w http.ResponseWriter, r *http.Request, name string) {
	f, err := s.root.Open(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer func() { f.Close() }()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	h.Set("Cache-Control", "no-cache")
	if hashedName.MatchString(path.Base(name)) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	tag := strconv.FormatInt(st.ModTime().UnixNano(), 36) + "-" + strconv.FormatInt(st.Size(), 36)
	if compressible(name) {
		h.Add("Vary", "Accept-Encoding")
		for _, form := range []struct{ coding, ext string }{{"br", ".br"}, {"gzip", ".gz"}} {
			if !accepts(r.Header.Get("Accept-Encoding"), form.coding) {
				continue
			}
			packed, err := s.root.Open(name + form.ext)
			if err != nil {
				continue
			}
			pst, err := packed.Stat()
			if err != nil || pst.ModTime().Before(st.ModTime()) { // the file was changed after the build
				packed.Close()
				continue
			}
			f.Close()
			f = packed
			h.Set("Content-Encoding", form.coding)
			h.Set("Content-Length", strconv.FormatInt(pst.Size(), 10))
			tag += "-" + form.coding
			break
		}
	}
	// With a 304, browsers keep the old policies instead of the new ones, so the headers are
	// part of the tag.
	h.Set("Etag", `"`+tag+"-"+headerSum(h)+`"`)
	if h.Get("Content-Encoding") != "" {
		r = r.Clone(r.Context())
		r.Header.Del("Range") // a range of the compressed form is of no use
	}
	http.ServeContent(w, r, path.Base(name), st.ModTime(), f)
}

func headerSum(h http.Header) string {
	sum := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(h)) {
		fmt.Fprintln(sum, name, h[name])
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// list sends a page with links to the folders below.
func (s *site) list(w http.ResponseWriter, name string) {
	var items []string
	if s.names != nil && name == "." {
		items = s.names()
	} else {
		dir, err := s.root.Open(name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer dir.Close()
		entries, err := dir.ReadDir(-1)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, e := range entries {
			if e.IsDir() && !hidden(e.Name()) {
				items = append(items, e.Name())
			}
		}
	}
	sortStrings(items)
	var pages []about
	for _, i := range items {
		dir := fs.FS(nil)
		if s.files != nil {
			dir = s.files(i)
		} else if sub, err := fs.Sub(s.root.FS(), path.Join(name, i)); err == nil {
			dir = sub
		}
		pages = append(pages, aboutPage(i, dir))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Security-Policy", listPolicy()) // it loads nothing, so it needs less than a page
	io.WriteString(w, listing(pages))
}

func (s *site) exists(name string) bool {
	_, err := s.root.Stat(name)
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}

// hidden reports whether a name is never sent: dot files, and headers.json.
func hidden(name string) bool {
	if name == "." {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if strings.HasPrefix(part, ".") || part == headersName {
			return true
		}
	}
	return false
}

func localName(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return loopback(host) || strings.HasSuffix(host, ".localhost")
}

// accepts reports whether an Accept-Encoding header accepts a coding. An empty header accepts
// none. Source: RFC 9110, section 12.5.3.
func accepts(header, coding string) bool {
	star := false
	for _, item := range strings.Split(header, ",") {
		name, params, _ := strings.Cut(item, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q := 1.0
		if v, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(params), " ", ""), "q="); ok {
			q, _ = strconv.ParseFloat(v, 64) // an invalid weight counts as 0
		}
		if name == coding {
			return q > 0
		}
		if name == "*" {
			star = q > 0
		}
	}
	return star
}

// contentType returns the type for a file name. It does not use the operating system's tables,
// which differ between machines.
func contentType(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".wasm":
		return "application/wasm"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".webp":
		return "image/webp"
	case ".avif":
		return "image/avif"
	case ".gif":
		return "image/gif"
	case ".ico":
		return "image/x-icon"
	case ".woff2":
		return "font/woff2"
	case ".pdf":
		return "application/pdf"
	case ".md", ".txt", ".ts":
		return "text/plain; charset=utf-8"
	case ".xml":
		return "application/xml"
	}
	return "application/octet-stream"
}
