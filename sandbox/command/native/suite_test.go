package native_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/bailey-go/bailey/internal/wasisuite"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command/native"
)

// fails are the programs of the wasi-testsuite that fail here, with the reasons.
//
// wazero itself provides the functions of WASI. Only the file system below them is the one of this package.
var fails = map[string]string{
	"c/sock_shutdown-not_sock":  "wazero: sock_shutdown on a file says EBADF",
	"rust/dir_fd_op_failures":   "wazero: an opened folder has a prestat",
	"rust/fd_fdstat_set_rights": "wazero: there are no rights",
	"rust/overwrite_preopen":    "wazero: fd_renumber does not take the place of the preopened folder",
	"rust/path_filestat":        "wazero: the flag SYNC is not kept",
	"rust/path_link":            "wazero: path_link ignores its flags",
	"rust/path_open_read_write": "wazero: there are no rights",
	"rust/poll_oneoff_stdio":    "wazero: poll_oneoff does not know the standard output",
	"rust/readlink":             "wazero: path_readlink into a smaller buffer says ERANGE",
	"rust/renumber":             "wazero: fd_renumber to a closed descriptor is allowed",
	"rust/stdio":                "wazero: the standard streams can't be renumbered",
	"rust/symlink_filestat":     "wazero: the times of a link are set through a descriptor, and no descriptor is open on a link",
	"rust/truncation_rights":    "wazero: there are no rights",
}

// The programs of the wasi-testsuite pass.
func TestWASISuite(t *testing.T) {
	for _, c := range wasisuite.Read(t, "../../..") {
		t.Run(c.Name, func(t *testing.T) {
			r, err := native.New(native.Options{Commands: map[string]string{c.Name: c.Name}, Env: c.Environ(), Fetch: func(context.Context, string) ([]byte, error) { return c.Wasm, nil }})
			must(t, err)
			t.Cleanup(func() { must(t, r.Close()) })
			var out, errs bytes.Buffer
			run := sandbox.Command{Name: c.Name, Args: c.Args, Stdout: &out, Stderr: &errs}
			if dir := c.Folder(t); dir != nil {
				run.FS = dir
			}
			exit, err := r.RunCommand(t.Context(), run)
			c.Check(t, fails, exit, out.Bytes(), errs.Bytes(), err)
		})
	}
}
