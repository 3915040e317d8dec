//go:build darwin || freebsd || netbsd

package files

import (
	"io/fs"
	"syscall"
)

// stampOf reads the inode's numbers out of what Lstat or Stat returned.
func stampOf(info fs.FileInfo) stamp {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	return stamp{
		identity: identity{dev: uint64(st.Dev), ino: st.Ino},
		size:     info.Size(),
		mtime:    st.Mtimespec.Nano(),
		ctime:    st.Ctimespec.Nano(),
		links:    uint64(st.Nlink),
		uid:      st.Uid,
		gid:      st.Gid,
		mode:     info.Mode(),
	}
}
