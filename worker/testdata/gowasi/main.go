// Command gowasi tries what a program of Go's, for wasip1 or js, expects of its host: "ok NAME" or
// "FAIL NAME: why" a line, as conform.c.
package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

var tests = []struct {
	name string
	fn   func() error
}{
	{"args", func() error { return want(strings.Join(os.Args, " "), "gowasi one ü") }},
	{"env", func() error { return want(os.Getenv("KEY"), "value") }},
	{"getwd", func() error { wd, err := os.Getwd(); return errors.Join(err, want(wd, "/work")) }},
	{"stdin", func() error { b, err := io.ReadAll(os.Stdin); return errors.Join(err, want(string(b), "in")) }},
	{"relative", func() error { b, err := os.ReadFile("here.txt"); return errors.Join(err, want(string(b), "here")) }},
	{"absolute", func() error { b, err := os.ReadFile("/top.txt"); return errors.Join(err, want(string(b), "top")) }},
	{"mount", func() error { b, err := os.ReadFile("/ro/f"); return errors.Join(err, want(string(b), "read only")) }},
	{"missing", func() error { _, err := os.ReadFile("nope"); return is(err, fs.ErrNotExist) }},
	{"outside", func() error { _, err := os.ReadFile("/../../etc/passwd"); return is(err, fs.ErrNotExist) }},
	{"write", func() error {
		if err := os.WriteFile("w.txt", []byte("written"), 0o644); err != nil {
			return err
		}
		b, err := os.ReadFile("w.txt")
		return errors.Join(err, want(string(b), "written"))
	}},
	{"append", func() error {
		for range 3 {
			f, err := os.OpenFile("a.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			if _, err := f.WriteString("x"); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
		b, err := os.ReadFile("a.txt")
		return errors.Join(err, want(string(b), "xxx"))
	}},
	{"exclusive", func() error {
		_, err := os.OpenFile("w.txt", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
		return is(err, fs.ErrExist)
	}},
	{"readat", func() error {
		f, err := os.Open("w.txt")
		if err != nil {
			return err
		}
		defer f.Close()
		b := make([]byte, 3)
		_, err = f.ReadAt(b, 4)
		return errors.Join(err, want(string(b), "ten"))
	}},
	{"truncate", func() error {
		f, err := os.OpenFile("w.txt", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Truncate(4); err != nil {
			return err
		}
		b, err := os.ReadFile("w.txt")
		return errors.Join(err, want(string(b), "writ"))
	}},
	{"mkdirall", func() error { return os.MkdirAll("d/e/f", 0o755) }},
	{"mkdir twice", func() error { return is(os.Mkdir("d", 0o755), fs.ErrExist) }},
	{"readdir", func() error {
		for i := range 300 {
			if err := os.WriteFile(fmt.Sprintf("d/file%03d", i), nil, 0o644); err != nil {
				return err
			}
		}
		list, err := os.ReadDir("d")
		return errors.Join(err, want(fmt.Sprint(len(list), list[0].Name(), list[300].Name()), "301efile299"))
	}},
	{"walk", func() error {
		n := 0
		err := filepath.WalkDir("d", func(_ string, _ fs.DirEntry, err error) error { n++; return err })
		return errors.Join(err, want(fmt.Sprint(n), "303"))
	}},
	{"rename", func() error { return errors.Join(os.Rename("a.txt", "d/b.txt"), os.Rename("d/e", "d/g")) }},
	{"remove", func() error { return os.Remove("d/g/f") }},
	{"remove full", func() error {
		if os.Remove("d") == nil {
			return errors.New("a full folder was removed")
		}
		return nil
	}},
	{"removeall", func() error { return os.RemoveAll("d") }},
	{"stat", func() error {
		i, err := os.Stat("w.txt")
		if err != nil {
			return err
		}
		return want(fmt.Sprint(i.Size(), i.Mode().IsRegular(), time.Since(i.ModTime()) < time.Minute), "4 true true")
	}},
	{"chtimes", func() error {
		at := time.Unix(1e9, 0)
		if err := os.Chtimes("w.txt", at, at); err != nil {
			return err
		}
		i, err := os.Stat("w.txt")
		return errors.Join(err, want(fmt.Sprint(i.ModTime().Unix()), "1000000000"))
	}},
	{"symlink", func() error { // one that is gone at the end, as the folder holds none
		err := os.Symlink("w.txt", "link")
		if runtime.GOOS == "js" { // whose files are Node's functions, which have no links here
			if err == nil {
				return errors.New("a link was made")
			}
			return nil
		}
		if err != nil {
			return err
		}
		to, err := os.Readlink("link")
		return errors.Join(err, want(to, "w.txt"), os.Remove("link"))
	}},
	{"read-only", func() error {
		if os.WriteFile("/ro/x", nil, 0o644) == nil {
			return errors.New("it was written")
		}
		return nil
	}},
	{"temp", func() error {
		f, err := os.CreateTemp("/work", "t*")
		if err != nil {
			return err
		}
		f.Close()
		return os.Remove(f.Name())
	}},
	{"sleep", func() error {
		start := time.Now()
		time.Sleep(30 * time.Millisecond)
		if d := time.Since(start); d < 29*time.Millisecond {
			return fmt.Errorf("slept %v", d)
		}
		return nil
	}},
	{"goroutines", func() error {
		c := make(chan int)
		for i := range 10 {
			go func() { time.Sleep(time.Duration(i) * time.Millisecond); c <- i }()
		}
		sum := 0
		for range 10 {
			sum += <-c
		}
		return want(fmt.Sprint(sum), "45")
	}},
	{"random", func() error {
		var a, b [32]byte
		_, err := rand.Read(a[:])
		_, err2 := rand.Read(b[:])
		if bytes.Equal(a[:], b[:]) {
			return errors.New("the same twice")
		}
		return errors.Join(err, err2)
	}},
}

func main() {
	if fn := ways[os.Args[1]]; fn != nil {
		fn()
		return
	}
	for _, t := range tests {
		if err := t.fn(); err != nil {
			fmt.Printf("FAIL %s: %v\n", t.name, err)
		} else {
			fmt.Printf("ok %s\n", t.name)
		}
	}
	os.Exit(7)
}

// ways are those of not ending well, and one of copying.
var ways = map[string]func(){
	"spin": func() {
		fmt.Println("before")
		for {
		}
	},
	"sleep": func() { time.Sleep(time.Hour) },
	"flood": func() {
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	},
	"panic": func() { panic("it is broken") },
	"grow": func() {
		for b := [][]byte{}; ; {
			b = append(b, make([]byte, 1<<20))
		}
	},
	"recurse": func() { recurse(1) },
	"cat":     func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
}

func recurse(n int) int { return n + recurse(n+1) + 1 }

func want(got, want string) error {
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}

func is(err, target error) error {
	if !errors.Is(err, target) {
		return fmt.Errorf("got %v, want %v", err, target)
	}
	return nil
}
