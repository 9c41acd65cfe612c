package iframe

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
)

func TestImageURL(t *testing.T) {
	for kind, head := range map[string]string{
		"image/png":  "\x89PNG\r\n\x1a\n",
		"image/jpeg": "\xff\xd8\xff\xe0",
		"image/gif":  "GIF89a",
		"image/webp": "RIFF\x00\x00\x00\x00WEBPVP8 ",
		"image/avif": "\x00\x00\x00\x20ftypavif",
	} {
		got, err := imageURL([]byte(head), 100)
		if want := "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(head)); err != nil || got != want {
			t.Errorf("%s: %q, %v", kind, got, err)
		}
	}
	for _, bad := range []string{"", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<?xml", "GIF8", "RIFF\x00\x00\x00\x00WAVE", "%PDF-", "\x89PNG"} {
		if got, err := imageURL([]byte(bad), 100); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
	at := append([]byte("GIF89a"), bytes.Repeat([]byte{0}, 94)...)
	if _, err := imageURL(at, 100); err != nil {
		t.Errorf("an image of MaxImage bytes: %v", err)
	}
	if _, err := imageURL(append(at, 0), 100); err == nil || !strings.Contains(err.Error(), "MaxImage") {
		t.Errorf("an image of MaxImage+1 bytes: %v", err)
	}
}
