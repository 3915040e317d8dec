package files

import "io/fs"

// identity names one inode for as long as it lives.
type identity struct{ dev, ino uint64 }

// stamp is what one look at a file says. Two equal stamps of a regular file mean that nothing
// was written between them: the kernel moves ctime at each change of content, size or links.
type stamp struct {
	identity

	size  int64
	mtime int64 // nanoseconds
	ctime int64 // nanoseconds
	links uint64
	uid   uint32
	gid   uint32
	mode  fs.FileMode
}

// regular reports whether the file is a plain one.
func (s stamp) regular() bool { return s.mode.IsRegular() }

// readableBy reports whether the mode bits let the user read. Access lists may say otherwise.
func (s stamp) readableBy(uid int, groups map[uint32]bool) bool {
	bits := s.mode.Perm()
	switch {
	case uid == 0:
		return true
	case uint32(uid) == s.uid:
		return bits&0o400 != 0
	case groups[s.gid]:
		return bits&0o040 != 0
	default:
		return bits&0o004 != 0
	}
}
