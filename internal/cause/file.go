package cause

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ofFile translates an error about a file.
func ofFile(err error) (words string, inner error) {
	if e, is := errors.AsType[*fs.PathError](err); is {
		return ofPath(e.Path, e.Err), e
	}
	if e, is := errors.AsType[*os.LinkError](err); is {
		return ofPath(e.New, e.Err), e
	}
	if e, is := errors.AsType[*os.SyscallError](err); is {
		return ofPath("", e.Err), e
	}
	if number, is := errors.AsType[syscall.Errno](err); is {
		return ofPath("", number), number
	}
	return "", nil
}

// numbers are the texts of system errors, with a placeholder for the file's name.
var numbers = map[syscall.Errno]string{
	syscall.ENOENT: "* is not there", syscall.EACCES: "this user may not use *", syscall.EPERM: "the system does not let this user change *",
	syscall.EEXIST: "* is there already", syscall.ENOTDIR: "a part of * is not a folder", syscall.EISDIR: "* is a folder",
	syscall.ENOTEMPTY: "the folder * is not empty", syscall.ENOSPC: "no room is left for *", syscall.EDQUOT: "the quota of this user has no room for *",
	syscall.EFBIG: "* would be larger than a file may be", syscall.EROFS: "* is on a disk that can only be read", syscall.EIO: "the disk failed at *",
	syscall.EMFILE: "too many files are open for *", syscall.ENFILE: "too many files are open for *", syscall.ENAMETOOLONG: "the name of * is too long",
	syscall.ELOOP: "links lead round in a circle at *", syscall.EPIPE: "nobody reads * any more", syscall.EXDEV: "* is on another disk",
	syscall.ETXTBSY: "another program writes to *", syscall.EBUSY: "the system holds *", syscall.ENOMEM: "no memory is left for *",
	syscall.EAGAIN: "* is held by another program", syscall.ENOEXEC: "* is not a program for this machine", syscall.EINVAL: "the system does not take *",
	syscall.ENXIO: "nothing is behind *", syscall.ENODEV: "nothing is behind *", syscall.EINTR: "the system was interrupted at *",
}

func ofPath(path string, err error) string {
	number, is := errors.AsType[syscall.Errno](err)
	if !is {
		words, _ := translated(err)
		switch {
		case words == "":
			words = withoutPackages(err.Error())
		case errors.Is(err, fs.ErrNotExist) && path != "":
			return path + " is not there"
		}
		if path == "" {
			return words
		}
		return path + ": " + words
	}
	form, known := numbers[number]
	switch {
	case known && path != "":
		return rewrite(form, path)
	case known:
		return rewrite(form, things[number])
	case path != "":
		return path + ": " + number.Error()
	default:
		return number.Error()
	}
}

// things replace a missing file name; "it" is the default.
var things = map[syscall.Errno]string{
	syscall.ENOSPC: "it on the disk", syscall.EPIPE: "what is written",
}

func rewrite(form, name string) string {
	if name == "" {
		name = "it"
	}
	for i := range len(form) {
		if form[i] == '*' {
			return form[:i] + name + form[i+1:]
		}
	}
	return form
}
