package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func sizeCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("size", flag.ContinueOnError)
	limit := f.String("max", "", "fail above this `size`, such as 1250KB (KB is 1,000 bytes)")
	budgets := f.String("budgets", "", "a JSON `file` of folder: size, for the folders in DIR")
	rest, err := parse(f, args, stderr, 1, "DIR")
	if err != nil {
		return err
	}
	want := map[string]string{".": *limit}
	if *budgets != "" {
		data, err := os.ReadFile(*budgets)
		if err != nil {
			return fmt.Errorf("size: %w", err)
		}
		want = map[string]string{}
		if err := json.Unmarshal(data, &want); err != nil {
			return fmt.Errorf("size: %s must be an object of folder: size: %w", *budgets, err)
		}
	}
	var over []string
	names := make([]string, 0, len(want))
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		most := int64(-1)
		if want[name] != "" {
			if most, err = parseSize(want[name]); err != nil {
				return fmt.Errorf("size: %s: %w", name, err)
			}
		}
		dir := filepath.Join(rest[0], name)
		total, err := weigh(dir, stdout)
		if err != nil {
			return fmt.Errorf("size: %w", err)
		}
		if most >= 0 && total > most {
			over = append(over, fmt.Sprintf("%s is %d bytes, %d over its budget of %s", dir, total, total-most, want[name]))
		}
	}
	if len(over) > 0 {
		return fmt.Errorf("size: %s", strings.Join(over, "; "))
	}
	return nil
}

// weigh returns the number of bytes that a browser loads of a built page, with brotli: the
// binaries, their wasm_exec.js, the loader once, and the page's own files. It prints each of
// them. Files that offline.json keeps when they are used are not loaded at the start, and are
// not counted.
func weigh(dir string, stdout io.Writer) (int64, error) {
	m, err := readManifest(dir)
	if err != nil {
		return 0, err
	}
	if len(m.Files) == 0 {
		return 0, fmt.Errorf("%s holds no build: run build -o %s first", dir, dir)
	}
	type row struct {
		name string
		n    int64
	}
	var rows []row
	var later int64 // bytes of files that are loaded when they are used
	for name, f := range m.Files {
		n := f.Brotli
		if n == 0 || n > f.Size {
			n = f.Size
		}
		rows = append(rows, row{name, n})
	}
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			// A folder with a manifest is another page.
			if _, err := os.Stat(filepath.Join(p, manifestName)); err == nil && p != dir {
				return fs.SkipDir
			}
			return nil
		}
		if hashedName.MatchString(name) || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") ||
			slices.Contains([]string{"bailey.js", "bailey.mjs", headersName}, name) {
			return nil
		}
		st, err := os.Stat(p)
		if err != nil {
			return err
		}
		n := st.Size()
		if packed, err := os.Stat(p + ".br"); err == nil {
			n = min(n, packed.Size())
		}
		rel, err := filepath.Rel(dir, p)
		if m.Offline != nil && keeps(m.Offline.Keep, filepath.ToSlash(rel)) {
			later += n
			return err
		}
		rows = append(rows, row{rel, n})
		return err
	})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	var total int64
	for _, r := range rows {
		fmt.Fprintf(stdout, "%10d  %s\n", r.n, filepath.ToSlash(filepath.Join(dir, r.name)))
		total += r.n
	}
	if later > 0 {
		fmt.Fprintf(stdout, "%10d  more in what is kept once it was used, not counted\n", later)
	}
	fmt.Fprintf(stdout, "%10d  %s\n", total, filepath.ToSlash(dir))
	return total, nil
}

// keeps reports whether offline.json's keep contains a path.
func keeps(keep []string, name string) bool {
	return slices.ContainsFunc(keep, func(k string) bool { return name == k || strings.HasSuffix(k, "/") && strings.HasPrefix(name, k) })
}

func parseSize(s string) (int64, error) {
	unit := int64(1)
	t := strings.ToUpper(strings.TrimSpace(s))
	for suffix, n := range map[string]int64{"KB": 1e3, "MB": 1e6} {
		if rest, ok := strings.CutSuffix(t, suffix); ok {
			t, unit = strings.TrimSpace(rest), n
			break
		}
	}
	if unit == 1 {
		t = strings.TrimSuffix(t, "B")
	}
	n, err := strconv.ParseFloat(t, 64)
	if err != nil || !(n >= 0 && n <= 1e12) {
		return 0, fmt.Errorf("%q is not a size: write bytes, or a number with KB or MB", s)
	}
	return int64(n * float64(unit)), nil
}
