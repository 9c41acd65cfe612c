package wasifs

import (
	"encoding/binary"
	"io/fs"
	"time"
)

// FD is a file descriptor of the guest.
type FD uint32

// Rights say what may be done through a descriptor.
type Rights uint64

// Source: WASI preview1, typenames.witx.
const (
	RightFdDatasync Rights = 1 << iota
	RightFdRead
	RightFdSeek
	RightFdFdstatSetFlags
	RightFdSync
	RightFdTell
	RightFdWrite
	RightFdAdvise
	RightFdAllocate
	RightPathCreateDirectory
	RightPathCreateFile
	RightPathLinkSource
	RightPathLinkTarget
	RightPathOpen
	RightFdReaddir
	RightPathReadlink
	RightPathRenameSource
	RightPathRenameTarget
	RightPathFilestatGet
	RightPathFilestatSetSize
	RightPathFilestatSetTimes
	RightFdFilestatGet
	RightFdFilestatSetSize
	RightFdFilestatSetTimes
	RightPathSymlink
	RightPathRemoveDirectory
	RightPathUnlinkFile
	RightPollFdReadwrite
	RightSockShutdown
	RightSockAccept
)

const (
	// FileRights are those that mean something for a file.
	FileRights = RightFdDatasync | RightFdRead | RightFdSeek | RightFdFdstatSetFlags | RightFdSync | RightFdTell |
		RightFdWrite | RightFdAdvise | RightFdAllocate | RightFdFilestatGet | RightFdFilestatSetSize |
		RightFdFilestatSetTimes | RightPollFdReadwrite
	// DirRights are those that mean something for a folder.
	DirRights = RightFdFdstatSetFlags | RightFdSync | RightFdDatasync | RightFdAdvise | RightPathCreateDirectory |
		RightPathCreateFile | RightPathLinkSource | RightPathLinkTarget | RightPathOpen | RightFdReaddir |
		RightPathReadlink | RightPathRenameSource | RightPathRenameTarget | RightPathFilestatGet |
		RightPathFilestatSetSize | RightPathFilestatSetTimes | RightFdFilestatGet | RightFdFilestatSetTimes |
		RightPathSymlink | RightPathRemoveDirectory | RightPathUnlinkFile
	// AllRights is what a mount begins with.
	AllRights = FileRights | DirRights

	streamRights = RightFdRead | RightFdWrite | RightFdFdstatSetFlags | RightFdFilestatGet | RightPollFdReadwrite
	writeRights  = RightFdWrite | RightFdAllocate
)

// OFlags are the flags of path_open that say how a file is made.
type OFlags uint16

const (
	OCreat OFlags = 1 << iota
	ODirectory
	OExcl
	OTrunc
)

// FDFlags are the flags of a descriptor.
type FDFlags uint16

const (
	FDAppend FDFlags = 1 << iota
	FDDsync
	FDNonblock
	FDRsync
	FDSync
)

// LookupFlags say how a path is followed. There are no links, so that none
// makes a difference.
type LookupFlags uint32

// SymlinkFollow is the only one there is.
const SymlinkFollow LookupFlags = 1

// FstFlags say which times to set.
type FstFlags uint16

const (
	FstAtim FstFlags = 1 << iota
	FstAtimNow
	FstMtim
	FstMtimNow
)

// Whence is where a seek counts from.
type Whence uint8

const (
	SeekSet Whence = iota
	SeekCur
	SeekEnd
)

// Filetype is what a descriptor or a name is.
type Filetype uint8

const (
	TypeUnknown   Filetype = 0 // a stream that is no terminal
	TypeDirectory Filetype = 3
	TypeRegular   Filetype = 4
)

func typeOf(m fs.FileMode) Filetype {
	switch {
	case m.IsDir():
		return TypeDirectory
	case m.IsRegular():
		return TypeRegular
	}
	return TypeUnknown
}

// Fdstat is what fd_fdstat_get tells.
type Fdstat struct {
	Type       Filetype
	Flags      FDFlags
	Base       Rights // of this descriptor
	Inheriting Rights // the most that one opened through it can have
}

// Encode gives the 24 bytes of the guest's memory.
func (s Fdstat) Encode() (b [24]byte) {
	b[0] = byte(s.Type)
	binary.LittleEndian.PutUint16(b[2:], uint16(s.Flags))
	binary.LittleEndian.PutUint64(b[8:], uint64(s.Base))
	binary.LittleEndian.PutUint64(b[16:], uint64(s.Inheriting))
	return b
}

// Filestat is what fd_filestat_get and path_filestat_get tell. Times are in
// nanoseconds since 1970; a folder below a browser has none, which is 0.
type Filestat struct {
	Dev, Ino         uint64 // Ino is made from mount and path: a rename changes it
	Type             Filetype
	Nlink            uint64
	Size             uint64
	Atim, Mtim, Ctim uint64
}

// Encode gives the 64 bytes of the guest's memory.
func (s Filestat) Encode() (b [64]byte) {
	for i, v := range []uint64{s.Dev, s.Ino, uint64(s.Type), s.Nlink, s.Size, s.Atim, s.Mtim, s.Ctim} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return b
}

func nanos(t time.Time) uint64 {
	if t.Before(time.Unix(0, 0)) {
		return 0
	}
	return uint64(t.UnixNano())
}
