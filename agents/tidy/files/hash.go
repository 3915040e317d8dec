package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"strconv"
)

// MaxHashPaths is the maximum number of paths in one [Service.Hash].
const MaxHashPaths = 1000

const readSize = 256 << 10

// HashArgs requests the content hashes of some files.
type HashArgs struct {
	Root  string   `json:"root"`
	Paths []string `json:"paths"` // at most MaxHashPaths, relative to the root
	// Before counts the files that earlier calls have hashed, and After those that are left for later ones. They only
	// affect what people are told.
	Before int `json:"before,omitzero"`
	After  int `json:"after,omitzero"`
}

// Hash is a file's content: lower-case hexadecimal SHA-256, and the bytes that were read.
type Hash struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// HashResult contains each path once, in one of the two lists, each in the order of the request.
type HashResult struct {
	Hashes []Hash `json:"hashes"`
	// Refused has the codes changed (while it was read), vanished, escapes_root, not_regular, unreadable.
	Refused []Refusal `json:"refused"`
	// Compared counts the files that were hashed, those of earlier calls too; Left are for later ones.
	Compared int `json:"compared"`
	Left     int `json:"left"`
}

// Hash reads the files one after another. Progress may be nil; it is called with the bytes read and the bytes to read,
// which are known from a first look at all files. Errors: *[Error] with bad_request, stopped or those of the root.
func (s *Service) Hash(ctx context.Context, args HashArgs, progress func(done, total int64)) (HashResult, error) {
	if len(args.Paths) > MaxHashPaths {
		return HashResult{}, &Error{
			Code: ErrBadArgs, Found: strconv.Itoa(len(args.Paths)) + " paths; at most 1000 are hashed at once", Hint: "split the list",
		}
	}
	t, err := s.openTree(args.Root)
	if err != nil {
		return HashResult{}, err
	}
	defer t.close()
	m := newMeter(progress, sizes(t, args.Paths, progress != nil))
	r, result := newReader(), HashResult{Hashes: []Hash{}, Refused: []Refusal{}}
	for _, file := range args.Paths {
		sum, size, err := r.hash(ctx, t, file, m)
		if ctx.Err() != nil {
			return HashResult{}, &Error{Code: ErrStopped, Path: file, Found: "hashing was stopped", Err: context.Cause(ctx)}
		}
		if err != nil {
			result.Refused = append(result.Refused, Refusal{Path: file, Code: codeOf(err)})
			continue
		}
		result.Hashes = append(result.Hashes, Hash{file, sum, size})
	}
	m.finish()
	result.Compared, result.Left = args.Before+len(result.Hashes), args.After
	return result, nil
}

func sizes(t *tree, paths []string, wanted bool) int64 {
	var total int64
	if !wanted {
		return 0
	}
	for _, file := range paths {
		if st, err := t.stat(file); err == nil && st.regular() {
			total += st.size
		}
	}
	return total
}

// reader hashes with one buffer and one state.
type reader struct {
	buffer []byte
	state  hash.Hash
}

func newReader() *reader {
	return &reader{buffer: make([]byte, readSize), state: sha256.New()}
}

// hash reads a file by its path.
func (r *reader) hash(ctx context.Context, t *tree, file string, m *meter) (string, int64, error) {
	f, st, err := t.open(file)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	sum, _, err := r.whole(ctx, f, st, m)
	return sum, st.size, err
}

// whole reads an open file to its end and demands that it was the same before and after: stamp and length.
func (r *reader) whole(ctx context.Context, f *os.File, before stamp, m *meter) (string, stamp, error) {
	r.state.Reset()
	var size int64
	for {
		if ctx.Err() != nil {
			return "", stamp{}, context.Cause(ctx) //nolint:wrapcheck // the caller looks at ctx itself.
		}
		n, err := f.Read(r.buffer)
		size += int64(n)
		_, _ = r.state.Write(r.buffer[:n])
		m.add(int64(n))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", stamp{}, err //nolint:wrapcheck // codeOf reads it.
		}
		if size > before.size {
			return "", stamp{}, errOtherNow
		}
	}
	info, err := f.Stat()
	if err != nil {
		return "", stamp{}, err //nolint:wrapcheck // codeOf reads it.
	}
	after := stampOf(info)
	if size != before.size || after != before {
		return "", stamp{}, errOtherNow
	}
	return hex.EncodeToString(r.state.Sum(nil)), after, nil
}
