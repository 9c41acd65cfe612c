package raster_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/bailey-go/bailey/sandbox/internal/raster"
)

// made returns an image of the size in each format that the standard library writes, and in the three
// kinds of WebP by hand.
func made(t testing.TB, w, h int) map[string][]byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	out := map[string][]byte{}
	for kind, encode := range map[string]func(*bytes.Buffer) error{
		raster.PNG:  func(b *bytes.Buffer) error { return png.Encode(b, m) },
		raster.JPEG: func(b *bytes.Buffer) error { return jpeg.Encode(b, m, nil) },
		raster.GIF:  func(b *bytes.Buffer) error { return gif.Encode(b, m, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		out[kind] = b.Bytes()
	}
	chunk := func(kind string, body ...byte) string {
		return kind + string([]byte{byte(len(body)), 0, 0, 0}) + string(body)
	}
	riff := func(chunks string) []byte {
		return []byte("RIFF" + string([]byte{byte(len(chunks) + 4), 0, 0, 0}) + "WEBP" + chunks)
	}
	bits := uint32(w-1) | uint32(h-1)<<14
	pixels := chunk("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, byte(w), byte(w>>8), byte(h), byte(h>>8), 1, 2)
	head := chunk("VP8X", 0, 0, 0, 0, byte(w-1), byte((w-1)>>8), 0, byte(h-1), byte((h-1)>>8), 0)
	out["image/webp VP8"] = riff(pixels)
	out["image/webp VP8L"] = riff(chunk("VP8L", 0x2f, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24), 1, 2, 3, 4) + "\x00") // an even length
	out["image/webp VP8X"] = riff(head + pixels)
	out["image/webp VP8X, in frames"] = riff(head + chunk("ANIM", 0, 0, 0, 0, 0, 0) + chunk("ANMF", 1, 2))
	return out
}

func TestCheck(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 2}, {300, 257}} {
		for kind, data := range made(t, size[0], size[1]) {
			got, err := raster.Check(data)
			if err != nil || got.Width != size[0] || got.Height != size[1] || got.Type != kind[:len(got.Type)] {
				t.Errorf("%s of %v: %+v, %v", kind, size, got, err)
			}
		}
	}
}

// No part of an image is taken for a whole one, also if the length of a WebP is that of the part.
func TestCheckFindsWhatIsCutOff(t *testing.T) {
	for kind, data := range made(t, 40, 30) {
		for n := range data {
			part := bytes.Clone(data[:n])
			if raster.Type(part) == raster.WebP && n < len(data)-1 { // the last byte makes a length even
				part[4] = byte(n - 8)
			}
			_, err := raster.Check(part)
			if err == nil {
				t.Errorf("%d of %d bytes of %s are an image", n, len(data), kind)
			}
			if err != nil && !errors.Is(err, raster.ErrDamaged) && !errors.Is(err, raster.ErrType) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want error
	}{
		"nothing":             {"", raster.ErrType},
		"text":                {"hello", raster.ErrType},
		"SVG":                 {`<svg xmlns="http://www.w3.org/2000/svg"/>`, raster.ErrType},
		"SVG behind a prolog": {`<?xml version="1.0"?><svg/>`, raster.ErrType},
		"BMP":                 {"BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00", raster.ErrType},
		"GIF without a size":  {"GIF89a\x00\x00\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00;", raster.ErrDamaged},
		"GIF, its size alone": {"GIF89a\x02\x00\x02\x00", raster.ErrDamaged},
		"GIF, no frame":       {"GIF89a\x02\x00\x02\x00\x00\x00\x00!\xfe\x01a\x00;", raster.ErrDamaged},
		"GIF, no such block":  {"GIF89a\x02\x00\x02\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00x;", raster.ErrDamaged},
		"GIF, many colors":    {"GIF89a\x02\x00\x02\x00\x87\x00\x00,;", raster.ErrDamaged},
		"PNG, another chunk":  {"\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND\x00\x00\x00\x00", raster.ErrDamaged},
		"PNG, a huge chunk":   {"\x89PNG\r\n\x1a\n\xff\xff\xff\xffIHDR\x00\x00\x00\x00", raster.ErrDamaged},
		"JPEG, no length":     {"\xff\xd8\xff\xe0\x00\x00\xff\xc0", raster.ErrDamaged},
		"WebP, a long chunk":  {"RIFF\x16\x00\x00\x00WEBPVP8 \xff\xff\xff\x00\x00\x00\x00\x9d\x01\x2a\x02\x00\x02\x00", raster.ErrDamaged},
		"WebP, no pixels":     {"RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x02\x00\x00", raster.ErrDamaged},
		"WebP, a short one":   {"RIFF\x00\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x02\x00\x02\x00", raster.ErrDamaged},
		"WebP of no kind":     {"RIFF\x16\x00\x00\x00WEBPABCD\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", raster.ErrDamaged},
	} {
		if _, err := raster.Check([]byte(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMediaType(t *testing.T) {
	gif := string(made(t, 2, 3)[raster.GIF])
	for _, c := range [][3]string{ // the name, the content and the type
		{"image/png", gif, raster.GIF}, {"", gif, raster.GIF}, {"text/plain", gif, raster.GIF}, {"IMAGE/GIF; a=b", gif, raster.GIF},
		{"image/png", gif[:20], raster.GIF}, {"text/plain", "GIF89a is the format of 1989.", "text/plain"}, {"", "GIF89a is the format of 1989.", ""},
		{"audio/WAV ; codecs=1", "RIFF", "audio/wav"}, {"image/png", "PNG", "image/png"}, {"audio", "", "audio"}, {"", "", ""},
	} {
		if got := raster.MediaType(c[0], []byte(c[1])); got != c[2] {
			t.Errorf("%q of %.20q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, data := range made(f, 5, 4) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := raster.Check(data)
		if err == nil && (m.Type == "" || m.Width < 1 || m.Height < 1 || m.Width >= 1<<31 || m.Height >= 1<<31) {
			t.Errorf("%+v", m)
		}
	})
}
