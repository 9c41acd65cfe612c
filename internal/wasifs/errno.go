package wasifs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Errno is what a call of WASI preview1 answers.
type Errno uint16

// The errors this package answers with. Source: WASI preview1, typenames.witx.
const (
	ESUCCESS     Errno = 0
	EACCES       Errno = 2  // the policy, or the platform, says no
	EBADF        Errno = 8  // no such descriptor, or not open for this
	EBUSY        Errno = 10 // held by somebody else, or too large to outlive its name
	ECANCELED    Errno = 11 // the context of the file system is done
	EEXIST       Errno = 20
	EFBIG        Errno = 22 // over a limit on one file or one change
	EINVAL       Errno = 28
	EIO          Errno = 29 // none of the others
	EISDIR       Errno = 31
	ELOOP        Errno = 32
	EMFILE       Errno = 33 // MaxOpen descriptors are open
	ENAMETOOLONG Errno = 37
	ENOENT       Errno = 44
	ENOSPC       Errno = 51 // a quota is reached
	ENOSYS       Errno = 52
	ENOTDIR      Errno = 54
	ENOTEMPTY    Errno = 55
	ENOTSUP      Errno = 58 // links, times where the platform has none
	EPERM        Errno = 63 // a path that is absolute or leaves its folder
	EROFS        Errno = 69
	ESPIPE       Errno = 70
	ESTALE       Errno = 72 // changed by somebody else meanwhile: open it again
	ETIMEDOUT    Errno = 73
	EXDEV        Errno = 75 // two mounts
	ENOTCAPABLE  Errno = 76 // the descriptor lacks the right
	EILSEQ       Errno = 25 // not UTF-8
	EOVERFLOW    Errno = 61
)

var errnoNames = map[Errno]string{
	ESUCCESS: "success", EACCES: "permission denied", EBADF: "bad file descriptor", EBUSY: "resource busy",
	ECANCELED: "cancelled", EEXIST: "file exists", EFBIG: "file too large", EINVAL: "invalid argument",
	EIO: "input/output error", EISDIR: "is a directory", ELOOP: "too many links", EMFILE: "too many open files",
	ENAMETOOLONG: "name too long", ENOENT: "no such file or directory", ENOSPC: "no space left",
	ENOSYS: "function not there", ENOTDIR: "not a directory", ENOTEMPTY: "directory not empty",
	ENOTSUP: "not supported", EPERM: "operation not permitted", EROFS: "read-only file system",
	ESPIPE: "not seekable", ESTALE: "changed by somebody else", ETIMEDOUT: "timed out", EXDEV: "cross-device",
	ENOTCAPABLE: "capability missing", EILSEQ: "name is not UTF-8", EOVERFLOW: "value too large",
}

// Error is the text a person reads.
func (e Errno) Error() string {
	if s, ok := errnoNames[e]; ok {
		return s
	}
	return "unknown WASI error"
}

// goErrors are asked in this order: an error may answer for more than one.
var goErrors = []struct {
	err   error
	errno Errno
}{
	{context.DeadlineExceeded, ETIMEDOUT},
	{context.Canceled, ECANCELED},
	{syscall.EROFS, EROFS},
	{syscall.ENOTDIR, ENOTDIR},
	{syscall.EISDIR, EISDIR},
	{syscall.ENOTEMPTY, ENOTEMPTY},
	{syscall.ENAMETOOLONG, ENAMETOOLONG},
	{syscall.ELOOP, ELOOP},
	{syscall.ESTALE, ESTALE},
	{syscall.EXDEV, EXDEV},
	{syscall.ENOSPC, ENOSPC},
	{syscall.EDQUOT, ENOSPC},
	{syscall.EFBIG, EFBIG},
	{syscall.EBUSY, EBUSY},
	{syscall.EMFILE, EMFILE},
	{syscall.EBADF, EBADF},
	{syscall.ESPIPE, ESPIPE},
	{syscall.EINVAL, EINVAL},
	{syscall.EPERM, EPERM},
	{fs.ErrNotExist, ENOENT},
	{fs.ErrExist, EEXIST},
	{fs.ErrPermission, EACCES},
	{fs.ErrClosed, EBADF},
	{fs.ErrInvalid, EINVAL},
	{errors.ErrUnsupported, ENOTSUP},
}

// ErrnoOf says what a WASI program is told for a Go error.
func ErrnoOf(err error) Errno {
	var e Errno
	if err == nil {
		return ESUCCESS
	}
	if errors.As(err, &e) {
		return e
	}
	for _, row := range goErrors {
		if errors.Is(err, row.err) {
			return row.errno
		}
	}
	return EIO
}
