package main

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"testing/fstest"
)

// The list of pages shows what each page says of itself. A page cannot write into the list.
func TestListing(t *testing.T) {
	long := strings.Repeat("a", maxAbout+1)
	picture := "RIFF\x00\x00\x00\x00WEBPVP8 "
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		has   []string
		not   []string
	}{
		{"a", fstest.MapFS{"index.html": {Data: []byte(`<!doctype html><title>T &amp; <b></title><meta name="description" content="what it &quot;is&quot;"><body><title>later</title>`)}, "preview.webp": {Data: []byte(picture)}},
			[]string{`<a href="a/">`, "<h2>T &amp; &lt;b&gt;</h2>", "what it &#34;is&#34;", `<img src="data:image/webp;base64,`}, []string{"later", `class="plain"`}},
		{`"><script>`, fstest.MapFS{}, []string{`<a href="&#34;&gt;&lt;script&gt;/">`, `class="plain"`}, []string{"<script>", "<img", "<h2>"}},
		{"b", fstest.MapFS{"index.html": {Data: []byte(long + "<title>x</title>")}, "preview.webp": {Data: make([]byte, maxPicture+1)}}, []string{`>b</a>`}, []string{"<img", "<h2>"}},
		{"c", fstest.MapFS{"index.html": {Data: []byte(long[:maxAbout-16] + "<title>x</title>")}, "preview.webp": {Data: make([]byte, maxPicture)}}, []string{"<h2>x</h2>", "<img"}, nil},
		{"d", nil, []string{`>d</a>`}, []string{"<h2>"}},
	} {
		got := listing([]about{aboutPage(c.name, c.files)})
		for _, s := range c.has {
			if !strings.Contains(got, s) {
				t.Errorf("%s lacks %q:\n%s", c.name, s, got[strings.Index(got, "<main>"):])
			}
		}
		for _, s := range c.not {
			if strings.Contains(got[strings.Index(got, "<main>"):], s) {
				t.Errorf("%s has %q", c.name, s)
			}
		}
	}
	style := strings.Split(strings.Split(listing(nil), "<style>")[1], "</style>")[0]
	if sum := sha256.Sum256([]byte(style)); !strings.Contains(listPolicy(), base64.StdEncoding.EncodeToString(sum[:])) || strings.Contains(listPolicy(), "unsafe") {
		t.Errorf("the policy %s refuses the style of the list", listPolicy())
	}
	if got := listing(nil); !strings.Contains(got, "none yet") {
		t.Error(got)
	}
}
