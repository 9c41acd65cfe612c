package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// old makes a call of a 32-bit program: by "int 0x80", from code that it writes.
func old(n, a, b, c uint32) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return 0, err
	}
	defer unix.Munmap(page)
	code := []byte{0x53} // push rbx
	for _, r := range []struct {
		op byte // mov register, number
		v  uint32
	}{{0xb8, n}, {0xbb, a}, {0xb9, b}, {0xba, c}} {
		code = append(code, r.op, byte(r.v), byte(r.v>>8), byte(r.v>>16), byte(r.v>>24))
	}
	copy(page, append(code, 0xcd, 0x80, 0x5b, 0xc3)) // int 0x80; pop rbx; ret
	at := unsafe.Pointer(&page[0])
	entry := unsafe.Pointer(&at) // a function value is the address of one of code
	r := (*(*func() uintptr)(unsafe.Pointer(&entry)))()
	if e := int32(r); e < 0 && e > -4096 {
		return 0, unix.Errno(-e)
	}
	return r, nil
}
