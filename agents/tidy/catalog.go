package tidy

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

const (
	batchBytes = 1 << 30   // bytes of content in one files.hash at most, unless a single file is larger
	batchText  = 128 << 10 // bytes of paths in one files.hash at most
)

// catalog holds the files of a tree, and drops early those that cannot be duplicates.
type catalog struct {
	entries []candidate
	last    string // path of the last one that was listed
	next    int    // the first that was not asked about
	from    int    // the first of the batch that is asked about
	hashed  int64  // bytes of those before next
	total   int64  // bytes of all, once the single ones are dropped
}

// candidate is a file that may have a duplicate.
type candidate struct {
	path  string
	size  int64
	sum   [32]byte
	known bool
	fixed bool // its folder cannot be written
}

// add adds a page. It copies the page's paths into one string, so that a page costs one allocation and its JSON can be
// freed.
func (c *catalog) add(page []files.File) error {
	size := 0
	for _, file := range page {
		if file.Path <= c.last || file.Size <= 0 {
			return fmt.Errorf("files.scan: %q of %d bytes came after %q: %w", file.Path, file.Size, c.last, errBadResult)
		}
		c.last = file.Path
		size += len(file.Path)
	}
	var all strings.Builder
	all.Grow(size)
	for _, file := range page {
		all.WriteString(file.Path)
	}
	text := all.String()
	c.entries = slices.Grow(c.entries, len(page))
	for _, file := range page {
		c.entries = append(c.entries, candidate{path: text[:len(file.Path)], size: file.Size, fixed: file.Fixed})
		text = text[len(file.Path):]
	}
	return nil
}

// dropSingles keeps the files whose size occurs more than once, in newly allocated memory. It sorts them by path again:
// hashing visits neighbours, so each folder is opened once.
func (c *catalog) dropSingles() {
	slices.SortStableFunc(c.entries, func(a, b candidate) int { return cmp.Compare(a.size, b.size) })
	var kept []candidate
	for run := range runs(c.entries, func(a, b candidate) bool { return a.size == b.size }) {
		for _, entry := range run {
			entry.path = strings.Clone(entry.path)
			kept = append(kept, entry)
			c.total += entry.size
		}
	}
	c.entries = slices.Clip(kept)
	slices.SortFunc(c.entries, func(a, b candidate) int { return strings.Compare(a.path, b.path) })
}

// runs yields each stretch of two or more neighbours that are alike.
func runs(entries []candidate, alike func(a, b candidate) bool) func(yield func([]candidate) bool) {
	return func(yield func([]candidate) bool) {
		for start := 0; start < len(entries); {
			end := start + 1
			for end < len(entries) && alike(entries[start], entries[end]) {
				end++
			}
			if end-start > 1 && !yield(entries[start:end]) {
				return
			}
			start = end
		}
	}
}

// batch returns the paths to hash next, and their size in bytes. It returns the same until learn is called.
func (c *catalog) batch() ([]string, int64) {
	var paths []string
	var content int64
	text := 0
	for i := c.from; i < len(c.entries) && len(paths) < files.MaxHashPaths; i++ {
		entry := &c.entries[i]
		if len(paths) > 0 && (content+entry.size > batchBytes || text+len(entry.path) > batchText) {
			break
		}
		paths = append(paths, entry.path)
		content += entry.size
		text += len(entry.path)
	}
	c.next = c.from + len(paths)
	return paths, content
}

// learn records the hashes of the batch; it drops a file without one, or whose size has changed.
func (c *catalog) learn(hashes []files.Hash) error {
	asked := c.entries[c.from:c.next]
	at := 0
	for _, hash := range hashes {
		for at < len(asked) && asked[at].path != hash.Path {
			at++
		}
		if at == len(asked) {
			return fmt.Errorf("files.hash: %q was not asked for, or not in this order: %w", hash.Path, errBadResult)
		}
		sum, err := hex.DecodeString(hash.SHA256)
		if err != nil || len(sum) != len(asked[at].sum) {
			return fmt.Errorf("files.hash: %q is not a SHA-256: %w", hash.SHA256, errBadResult)
		}
		copy(asked[at].sum[:], sum)
		asked[at].known = hash.Size == asked[at].size
		at++
	}
	for i := range asked {
		c.hashed += asked[i].size
	}
	c.from = c.next
	return nil
}

// duplicates is the result: what can be removed, and everything that there is.
type duplicates struct {
	remove     []files.Set
	unwritable []string // duplicates in folders that cannot be written

	sets, files int
	bytes       int64
}

// duplicates groups equal files; the first path of each survives. They are ordered by their survivors.
func (c *catalog) duplicates() duplicates {
	known := slices.DeleteFunc(c.entries, func(entry candidate) bool { return !entry.known })
	slices.SortStableFunc(known, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.size, b.size), bytes.Compare(a.sum[:], b.sum[:]), strings.Compare(a.path, b.path))
	})
	var found duplicates
	for run := range runs(known, func(a, b candidate) bool { return a.size == b.size && a.sum == b.sum }) {
		set := files.Set{SHA256: hex.EncodeToString(run[0].sum[:]), Size: run[0].size, Survivor: run[0].path}
		for _, entry := range run[1:] {
			if entry.fixed {
				found.unwritable = append(found.unwritable, entry.path)
			} else {
				set.Delete = append(set.Delete, entry.path)
			}
		}
		found.sets++
		found.files += len(run) - 1
		found.bytes += int64(len(run)-1) * set.Size
		if len(set.Delete) > 0 {
			found.remove = append(found.remove, set)
		}
	}
	slices.SortFunc(found.remove, func(a, b files.Set) int { return strings.Compare(a.Survivor, b.Survivor) })
	return found
}
