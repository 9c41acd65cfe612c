package web

import (
	"github.com/bailey-go/bailey/internal/jsx"
)

// canSync reports whether this is a Worker whose browser has access handles.
func canSync() bool {
	return jsx.Supported("FileSystemFileHandle.prototype.createSyncAccessHandle") &&
		jsx.Supported("FileSystemSyncAccessHandle.prototype.read")
}

// accessHandle is a FileSystemSyncAccessHandle. Its methods are synchronous.
type accessHandle struct{ v jsx.Value }

// accessPiece is the maximum number of bytes copied in one call.
const accessPiece = 1 << 20

func (a accessHandle) readAt(p []byte, off int64) (int, error) {
	p = p[:min(len(p), accessPiece)]
	buf, err := jsx.NewGlobal("Uint8Array", len(p))
	if err != nil {
		return 0, err
	}
	n, err := a.number("read", buf, map[string]any{"at": float64(off)})
	if err != nil || n == 0 {
		return 0, err
	}
	return jsx.CopyToGo(p[:min(int(n), len(p))], buf, 0)
}

func (a accessHandle) writeAt(p []byte, off int64) (int, error) {
	buf, err := jsx.FromBytes(p[:min(len(p), accessPiece)])
	if err != nil {
		return 0, err
	}
	n, err := a.number("write", buf, map[string]any{"at": float64(off)})
	return int(n), err
}

func (a accessHandle) size() (int64, error) {
	n, err := a.number("getSize")
	return int64(n), err
}

func (a accessHandle) truncate(size int64) error { return a.call("truncate", float64(size)) }

func (a accessHandle) flush() error { return a.call("flush") }

func (a accessHandle) Release() error { return a.call("close") }

func (a accessHandle) call(method string, args ...any) error {
	_, err := jsx.Call(a.v, method, args...)
	return WebErr(err)
}

func (a accessHandle) number(method string, args ...any) (float64, error) {
	v, err := jsx.Call(a.v, method, args...)
	if err != nil {
		return 0, WebErr(err)
	}
	return jsx.Finite(v)
}
