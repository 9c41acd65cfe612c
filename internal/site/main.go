//go:build !js

// Site makes the documentation as static pages: README.md, docs and the other papers, the documentation of each public package as go doc
// has it with its examples, and a playground of examples/markdown and examples/run. `make site` calls it after it has built the examples,
// and `make site SERVE=127.0.0.1:8080` serves it, too. The pages have no script. _headers has the headers of each part, in the form of
// Netlify and Cloudflare Pages.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("o", "build/site", "the `folder` to write; files of an earlier site are replaced")
	playground := flag.String("playground", "", "the `folder` with the built examples markdown and run, if the site has a playground")
	source := flag.String("source", "https://github.com/bailey-go/bailey/blob/main/", "the `address` of the source")
	serve := flag.String("serve", "", "serve the site at this `address`, such as 127.0.0.1:8080")
	flag.Parse()
	s := &site{root: ".", out: *out, source: *source, playground: *playground}
	err := s.write()
	if err == nil {
		fmt.Printf("%s has %d pages: open index.html, or copy the folder to a host\n", s.out, len(s.pages))
		if *serve != "" {
			err = s.serve(*serve)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// serve serves the site with its headers until the program ends.
func (s *site) serve(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("it is at http://%s/\n", l.Addr())
	return http.Serve(l, s.handler())
}

// handler serves the files with the headers of _headers.
func (s *site) handler() http.Handler {
	files := http.FileServer(http.Dir(s.out))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := filepath.ToSlash(filepath.Clean("/" + r.URL.Path))
		for _, h := range s.headers { // the most special one is the last
			if path+"/" == h.path || strings.HasPrefix(path, h.path) {
				for name := range w.Header() {
					w.Header().Del(name)
				}
				for _, x := range h.list {
					w.Header().Set(x.Name, x.Value)
				}
			}
		}
		files.ServeHTTP(w, r)
	})
}
