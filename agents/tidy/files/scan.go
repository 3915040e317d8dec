package files

import (
	"context"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxPage is how many bytes of JSON end a page; the path that crosses the line is still on it.
const maxPage = 192 << 10

// The reasons for which a scan leaves something out, the keys of [ScanResult.Skipped].
// A folder that is left out counts once, whatever it holds.
const (
	SkipSymlink         = "symlink"
	SkipGit             = "git"
	SkipUnreadable      = "unreadable"
	SkipEmpty           = "empty"
	SkipHardLink        = "hard_link" // a further name of a file that was listed: removing it frees nothing
	SkipSpecial         = "special"   // devices, pipes, sockets
	SkipOtherFilesystem = "other_filesystem"
	SkipNotUTF8         = "not_utf8"
	SkipPrivate         = "private"    // folders of this product
	SkipUnfinished      = "unfinished" // the private folder of a removal that is under way or did not end; a file may lie in it
	SkipTrash           = "trash"      // what the user has thrown away is neither duplicate nor survivor
	SkipVanished        = "vanished"   // was there when its folder was read
	SkipLongPath        = "long_path"  // longer than MaxPath, so that no other call could name it
)

// MaxPath is how many bytes a path below the root may have.
const MaxPath = 4096

// ScanArgs asks for one page.
type ScanArgs struct {
	// Root is an allowed folder or one beneath, absolute, without links.
	Root string `json:"root"`
	// Cursor is the Next of the page before; empty for the first.
	Cursor string `json:"cursor,omitempty"`
}

// File is a regular, non-empty file. Path is relative to the root, with slashes.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Fixed: its folder cannot be written by this user, so that the file can be compared and not removed.
	Fixed bool `json:"fixed,omitzero"`
}

// ScanResult is one page, at most about 200 KiB of JSON.
type ScanResult struct {
	// Files are in bytewise order of their whole paths, over all pages.
	Files []File `json:"files"`
	// Next is the cursor of the following page; empty when this is the last.
	Next string `json:"next"`
	// Skipped counts what this page passed and left out, by reason.
	Skipped map[string]int `json:"skipped"`
	// Total counts the files of this page and of all before it.
	Total int `json:"listed"`
	// Fixed: the root cannot be written by this user, so that nothing below it can be removed.
	Fixed bool `json:"fixed,omitzero"`
}

// Scan lists one page of the files below the root. The cursor means "after this path", so a page can be asked for again and
// after a restart; then the tree is walked once more up to the cursor to know which inodes were listed.
// Errors: *[Error] with escapes_root, root_missing, root_unreadable, root_not_folder, bad_request or stopped.
func (s *Service) Scan(ctx context.Context, args ScanArgs) (ScanResult, error) {
	if args.Cursor != "" && !validCursor(args.Cursor) {
		return ScanResult{}, &Error{Code: ErrBadArgs, Path: args.Cursor, Found: "is not a cursor", Hint: "pass next as it was received"}
	}
	t, err := s.openTree(args.Root)
	if err != nil {
		return ScanResult{}, err
	}
	defer t.close()
	w := s.scans.claim(args, s.now())
	if w == nil || w.top != t.stamp.identity {
		w, err = s.newWalker(t, args.Cursor)
		if err != nil {
			return ScanResult{}, rootError(args.Root, err)
		}
	}
	result, err := w.page(ctx, t)
	if err != nil {
		return ScanResult{}, &Error{Code: ErrStopped, Path: args.Root, Found: "the scan was stopped", Err: err}
	}
	if result.Next != "" {
		s.scans.store(ScanArgs{Root: args.Root, Cursor: result.Next}, w, s.now())
	}
	return result, nil
}

func validCursor(cursor string) bool {
	return utf8.ValidString(cursor) && filepath.IsLocal(cursor) && !strings.HasSuffix(cursor, "/")
}

// jsonSize is the most that a file takes on a page.
func jsonSize(path string) int {
	const frame = len(`{"path":"","size":9223372036854775807,"fixed":true},`)
	size := frame + len(path)
	for i := range len(path) {
		switch c := path[i]; {
		case c < ' ', c == '"', c == '\\', c == '<', c == '>', c == '&', c == 0xe2, c == 0x7f:
			size += 5
		}
	}
	return size
}
