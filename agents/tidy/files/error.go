package files

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"

	"github.com/earshot-dev/earshot/internal/cause"
)

// ErrorCode is why a whole call was refused or stopped. The codes of single files are [Code].
type ErrorCode string

// The codes of [Error].
const (
	// ErrEscapesRoot: the root is not one that the operator allowed.
	ErrEscapesRoot ErrorCode = "escapes_root"
	// ErrRootMissing: there is nothing at the root's path.
	ErrRootMissing ErrorCode = "root_missing"
	// ErrRootUnreadable: the root cannot be opened or listed.
	ErrRootUnreadable ErrorCode = "root_unreadable"
	// ErrRootNotFolder: the root is not a folder.
	ErrRootNotFolder ErrorCode = "root_not_folder"
	// ErrBadArgs: the arguments contradict themselves or a limit.
	ErrBadArgs ErrorCode = "bad_request"
	// ErrSecondStart: a journal of this call exists: it was started before.
	ErrSecondStart ErrorCode = "second_start"
	// ErrJournal: the journal cannot be written or read.
	ErrJournal ErrorCode = "journal_failed"
	// ErrPrivateFolder: the private folder cannot be created or is not the one that was created.
	ErrPrivateFolder ErrorCode = "private_folder_failed"
	// ErrTrash: no trash can be used for this root without copying.
	ErrTrash ErrorCode = "no_trash"
	// ErrTooLate: the caller's check right before the first effect failed.
	ErrTooLate ErrorCode = "too_late"
	// ErrStopped: the context ended; the result says exactly what was done.
	ErrStopped ErrorCode = "stopped"
	// ErrBroken: the file system failed in a way that makes it unwise to continue.
	ErrBroken ErrorCode = "file_system_failed"
	// ErrBusy: the process that runs the call is still alive.
	ErrBusy ErrorCode = "busy"
	// ErrUnsupported: this operating system lacks inode numbers or locks.
	ErrUnsupported ErrorCode = "unsupported"
)

// Error refuses or stops a whole call.
type Error struct {
	Code  ErrorCode
	Path  string // what it is about; may be empty
	Found string // what was found, and what was expected
	Hint  string // what to do; may be empty
	// Effect reports whether something may have been done before: then a retry is not safe, and the result says what
	// was done.
	Effect bool
	Err    error // the cause; may be nil
}

// Error says what, where and why, on one line.
func (e *Error) Error() string {
	text := "files: " + e.Found
	if e.Path != "" {
		text = fmt.Sprintf("files: %q: %s", e.Path, e.Found)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// failure makes an *Error that distinguishes a lack of space, whatever limits it, from a broken disk.
func failure(code ErrorCode, path, found, hint string, err error) *Error {
	if more := spaceHint(err); more != "" {
		found, hint = "no room is left: "+found, more
	}
	return &Error{Code: code, Path: path, Found: found, Hint: hint, Err: err}
}

// spaceHint says how to free space; empty for any other failure.
func spaceHint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "make room on the disk"
	case errors.Is(err, syscall.EDQUOT):
		return "make room, or have the quota of this user raised"
	case errors.Is(err, syscall.EFBIG):
		return "raise the limit on the size of a file (ulimit -f)"
	default:
		return ""
	}
}

// Plain returns what was found, and what to do, for a person.
func (e *Error) Plain() string {
	text := e.Found
	switch {
	case e.Path == "":
	case cause.OneLine(e.Path) == e.Path:
		text = e.Path + ": " + text
	default: // something in it would break the line or steer a terminal
		text = strconv.Quote(e.Path) + ": " + text
	}
	if system := cause.System(e.Err); system != "" {
		text += ": " + system
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is compares codes, so that errors.Is(err, &Error{Code: ErrSecondStart}) works.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// SafeToRetry reports whether the same call may be sent again, and may then succeed: nothing was touched, and what
// stood in the way can be removed.
func (e *Error) SafeToRetry() bool {
	switch e.Code {
	case ErrEscapesRoot, ErrBadArgs, ErrSecondStart, ErrTooLate, ErrBusy, ErrUnsupported:
		return false
	case ErrRootMissing, ErrRootUnreadable, ErrRootNotFolder, ErrJournal, ErrPrivateFolder, ErrTrash, ErrStopped, ErrBroken:
		return !e.Effect
	default:
		return false
	}
}
