package files

import (
	"errors"
	"io/fs"
	"syscall"
)

// Code says why one file was left alone.
type Code string

// The codes of [Refusal].
const (
	// CodeChanged: content, size or identity is not what was asked about.
	CodeChanged Code = "changed"
	// CodeVanished: nothing is there any more.
	CodeVanished Code = "vanished"
	// CodeSurvivorMissing: the survivor is not there.
	CodeSurvivorMissing Code = "keep_missing"
	// CodeSurvivorChanged: the survivor is not a separate, whole, regular file that the call leaves alone.
	CodeSurvivorChanged Code = "keep_changed"
	// CodeEscapesRoot: the path leads out of the root, through a link, to another file system or into a folder of ours.
	CodeEscapesRoot Code = "escapes_root"
	// CodeNotRegular: a folder, link, device, pipe or socket is there.
	CodeNotRegular Code = "not_regular"
	// CodeUnreadable: the file cannot be opened or read to its end.
	CodeUnreadable Code = "unreadable"
	// CodeNotPermitted: the system does not let this user move the file.
	CodeNotPermitted Code = "not_permitted"

	// codeNotReached and codeUnclear stand in journals only: an item that was put back because the call
	// stopped, and one whose fate cannot be shown.
	codeNotReached Code = "not_reached"
	codeUnclear    Code = "unclear"
)

// Refusal is one file that was left alone.
type Refusal struct {
	Path string `json:"path"`
	Code Code   `json:"code"`
	// Remains is where the file lies now, relative to the root, when it could not be put back
	// because its place is taken or gone. Empty otherwise.
	Remains string `json:"kept,omitempty"`
}

// codeOf gives the code for a failure to reach or read a file.
func codeOf(err error) Code {
	switch {
	case errors.Is(err, errLinkInPath), errors.Is(err, errBarred):
		return CodeEscapesRoot
	case errors.Is(err, errNotRegular):
		return CodeNotRegular
	case errors.Is(err, errOtherNow):
		return CodeChanged
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return CodeVanished
	default:
		return CodeUnreadable
	}
}
