package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/storetest"
	"github.com/bailey-go/bailey/sandbox"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, address := range []string{dir, "file://" + dir, "file:" + dir} {
		s, err := Open(t.Context(), address)
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if err := s.Put(t.Context(), storetest.Session("ses-a", storetest.At), nil, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		s.Close()
	}
	for address, want := range map[string]string{
		"":                            "the address is empty",
		dir + "/none":                 "no such file",
		"mysql://host/database":       "no store has addresses with mysql",
		"memory:x":                    "no such file",
		"postgres://u:pass%zz@host/d": "no URL",
		"postgres://host:port/d":      "no URL",
		"postgres://host/d?sslmode=x": "sslmode",
	} {
		s, err := Open(t.Context(), address)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass%") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestMemory(t *testing.T) {
	s, err := Open(t.Context(), "memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	storetest.Run(t, func() sandbox.Store { return s })
}

func TestReach(t *testing.T) {
	dir := t.TempDir()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"memory:":                                " []",
		dir:                                      real + " []",
		dir + "/link":                            real + " []",
		"file:///" + dir:                         real + " []",
		"postgres://h/d":                         " [5432]",
		"postgres://h:6/d?sslmode=prefer":        " [6]",
		"postgres:///d?host=/run/postgresql":     " []",
		"postgres:///d?host=a,b,/run&port=1,2,3": " [1 2]",
	} {
		folder, ports, err := Reach(address)
		if got := fmt.Sprint(folder, " ", ports); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", address, got, err, want)
		}
	}
	for _, address := range []string{"", dir + "/none", "s3:///x", "postgres://%zz"} {
		if _, _, err := Reach(address); err == nil {
			t.Errorf("%s: no error", address)
		}
	}
}

// A connection to another machine is encrypted, and the certificate checked, unless the address says otherwise.
func TestEncrypted(t *testing.T) {
	for _, v := range []string{"PGSSLMODE", "PGHOST", "PGSERVICE"} {
		t.Setenv(v, "")
	}
	for address, want := range map[string]bool{
		"postgres://db.example.org/d":                              true,
		"postgres://u:p%40@db.example.org:5433/d?pool_max_conns=3": true,
		"postgresql://10.0.0.1/d":                                  true,
		"postgres://localhost,db.example.org/d":                    true,
		"postgres://localhost.example.org/d":                       true,
		"postgres://[2001:db8::1]/d":                               true,
		"postgres:///d?host=db.example.org":                        true,
		"postgres://localhost/d":                                   false,
		"postgres://127.0.0.1/d":                                   false,
		"postgres://[::1]/d":                                       false,
		"postgres:///d?host=/run/postgresql":                       false,
		"postgres://db.example.org/d?sslmode=disable":              false,
	} {
		config, err := parse(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		checked := config.ConnConfig.TLSConfig != nil && !config.ConnConfig.TLSConfig.InsecureSkipVerify && config.ConnConfig.TLSConfig.ServerName == config.ConnConfig.Host
		for _, f := range config.ConnConfig.Fallbacks {
			checked = checked && f.TLSConfig != nil && !f.TLSConfig.InsecureSkipVerify
		}
		if checked != want {
			t.Errorf("%s: checked %v, want %v", address, checked, want)
		}
	}
	t.Setenv("PGSSLMODE", "disable")
	if config, err := parse("postgres://db.example.org/d"); err != nil || config.ConnConfig.TLSConfig != nil {
		t.Errorf("PGSSLMODE: %v", err)
	}
}

// A key that the database can't hold names no session.
func TestStorable(t *testing.T) {
	p := &postgres{}
	for _, id := range []string{"a\x00b", "\xff"} {
		_, err := p.Session(t.Context(), id)
		_, err2 := p.Lock(t.Context(), id)
		_, err3 := p.File(t.Context(), id, "x")
		for _, err := range []error{err, err2, err3, p.Delete(t.Context(), id), p.PutFile(t.Context(), id, "x", nil)} {
			if err == nil || !strings.Contains(err.Error(), "not exist") {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}
