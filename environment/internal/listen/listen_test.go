package listen

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestOn(t *testing.T) {
	for _, on := range []string{"", "0.0.0.0:0", "example.com:80", "localhost:0", "127.0.0.1", "[::]:0", ":0"} {
		if l, _, err := On(on, 0o600); err == nil {
			l.Close()
			t.Errorf("%q was accepted", on)
		}
	}
	l, address, err := On("127.0.0.1:0", 0o600)
	if err != nil || !strings.HasPrefix(address, "http://127.0.0.1:") || strings.HasSuffix(address, ":0") {
		t.Fatal(address, err)
	}
	l.Close()
	if runtime.GOOS == "windows" {
		t.Skip("a socket has no mode here")
	}
	for _, mode := range []os.FileMode{0o600, 0o660} {
		path := filepath.Join(t.TempDir(), "s")
		l, address, err := On("unix:"+path, mode)
		if err != nil || address != "unix:"+path {
			t.Fatal(address, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("the socket has %v, %v", info.Mode(), err)
		}
		l.Close()
	}
}
