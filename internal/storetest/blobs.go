package storetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func blobCases() []exercise {
	return []exercise{
		{"are put and read in pieces", blobsInPieces},
		{"an empty one", blobsEmpty},
		{"pieces come in order", blobsInOrder},
		{"a wrong hash drops all pieces", blobsWrongHash},
		{"a wrong beginning is replaced", blobsWrongBeginning},
		{"a wrong middle is replaced", blobsWrongMiddle},
		{"malformed pieces are refused", blobsMalformed},
		{"many put the same", blobsRace},
		{"any cut, any order, any page", blobsProperty},
	}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// content makes n bytes that repeat nowhere near.
func content(n, salt int) []byte {
	out := make([]byte, 0, n+sha256.Size)
	for i := 0; len(out) < n; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d", salt, i))
		out = append(out, sum[:]...)
	}
	return out[:n]
}

func piece(data []byte, from, to int) api.PutRequest {
	return api.PutRequest{SHA256: digestOf(data), Size: int64(len(data)), Offset: int64(from), Data: data[from:to]}
}

func (l *ledger) put(p api.PutRequest) error {
	return l.update(func(tx store.Tx) error { return tx.Save(store.Batch{Blobs: []api.PutRequest{p}}) })
}

func (l *ledger) putAll(data []byte, step int) {
	l.t.Helper()
	for at := 0; at < len(data); at += step {
		if err := l.put(piece(data, at, min(at+step, len(data)))); err != nil {
			l.t.Fatalf("the piece at %d: %v", at, err)
		}
	}
}

// page reads n bytes of a blob; err is for the caller.
func (l *ledger) page(sha string, offset int64, n int) (data []byte, size int64, err error) {
	err = l.store.View(l.t.Context(), func(tx store.Tx) (err error) {
		data, size, err = tx.Blob(sha, offset, n)
		return err
	})
	return data, size, err
}

func (l *ledger) blob(data []byte) {
	l.t.Helper()
	got, size, err := l.page(digestOf(data), 0, len(data)+10)
	if err != nil || size != int64(len(data)) || !bytes.Equal(got, data) {
		l.t.Errorf("the blob of %d bytes: got %d of %d, equal %t, %v", len(data), len(got), size, bytes.Equal(got, data), err)
	}
}

func (l *ledger) noBlob(data []byte) {
	l.t.Helper()
	if _, _, err := l.page(digestOf(data), 0, 1); !errors.Is(err, store.ErrNotFound) {
		l.t.Errorf("a blob that is not complete: got %v, want %v", err, store.ErrNotFound)
	}
}

func blobsInPieces(l *ledger) {
	data := content(3*api.ChunkLimit+1234, 1)
	sha := digestOf(data)
	l.putAll(data, api.ChunkLimit)
	l.blob(data)
	var read []byte
	for int64(len(read)) < int64(len(data)) {
		got, size, err := l.page(sha, int64(len(read)), api.ChunkLimit)
		if err != nil || size != int64(len(data)) || len(got) == 0 || len(got) > api.ChunkLimit {
			l.t.Fatalf("the page at %d: %d bytes of %d, %v", len(read), len(got), size, err)
		}
		read = append(read, got...)
	}
	if !bytes.Equal(read, data) {
		l.t.Error("the pages are not the blob")
	}
	for _, c := range []struct{ offset, n, want int }{{len(data), 5, 0}, {len(data) + 99, 5, 0}, {0, 0, 0}, {0, -1, 0}, {len(data) - 3, 5, 3}, {api.ChunkLimit - 2, 4, 4}} {
		got, size, err := l.page(sha, int64(c.offset), c.n)
		if err != nil || len(got) != c.want || size != int64(len(data)) || !bytes.Equal(got, data[min(c.offset, len(data)):][:c.want]) {
			l.t.Errorf("%d bytes from %d: got %d of %d, %v", c.n, c.offset, len(got), size, err)
		}
	}
	if _, _, err := l.page(sha, -1, 5); err == nil {
		l.t.Error("a negative offset was read")
	}
	l.noBlob([]byte("another"))
}

func blobsEmpty(l *ledger) {
	l.noBlob(nil)
	if err := l.put(piece(nil, 0, 0)); err != nil {
		l.t.Error(err)
	}
	l.blob(nil)
}

func blobsInOrder(l *ledger) {
	data := content(1000, 2)
	put := func(what string, from, to int, want error) {
		l.t.Helper()
		if err := l.put(piece(data, from, to)); !errors.Is(err, want) {
			l.t.Errorf("%s: got %v, want %v", what, err, want)
		}
	}
	put("a later piece first", 300, 600, store.ErrConflict)
	put("the first", 0, 300, nil)
	put("a gap", 301, 600, store.ErrConflict)
	put("the first again", 0, 300, nil)
	put("an empty one", 0, 0, nil)
	put("a part of it", 100, 200, nil)
	put("one that overlaps", 200, 600, nil)
	l.noBlob(data)
	put("the last", 600, 1000, nil)
	l.blob(data)
	put("the last again", 600, 1000, nil)
	put("a middle one again", 300, 500, nil)
	lie := piece(data, 0, 300)
	lie.Size = 300
	if err := l.put(lie); !errors.Is(err, store.ErrConflict) {
		l.t.Errorf("another size of a complete blob: %v", err)
	}
	l.blob(data)
}

func blobsWrongHash(l *ledger) {
	data := content(1000, 3)
	wrong := bytes.Clone(data)
	wrong[200] ^= 1
	cheat := func(from, to int) api.PutRequest {
		p := piece(data, from, to)
		p.Data = wrong[from:to]
		return p
	}
	for _, cut := range []int{300, 1000} { // in two pieces, and in one
		if cut < len(data) {
			if err := l.put(cheat(0, cut)); err != nil {
				l.t.Fatal(err)
			}
			if err := l.put(cheat(cut, 1000)); !errors.Is(err, store.ErrHash) {
				l.t.Errorf("the last piece of a wrong blob: got %v, want %v", err, store.ErrHash)
			}
		} else if err := l.put(cheat(0, 1000)); !errors.Is(err, store.ErrHash) {
			l.t.Errorf("a wrong blob: got %v, want %v", err, store.ErrHash)
		}
		l.noBlob(data)
		if err := l.put(piece(data, 300, 600)); !errors.Is(err, store.ErrConflict) {
			l.t.Errorf("the pieces of a wrong blob are still there: %v", err)
		}
	}
	l.putAll(data, 300)
	l.blob(data)
}

func blobsWrongBeginning(l *ledger) {
	data := content(1000, 4)
	wrong, short := piece(data, 0, 300), piece(data, 0, 300)
	wrong.Data = content(300, 5)
	short.Size = 500
	for what, c := range map[string]struct {
		first api.PutRequest
		next  error
	}{"bytes": {wrong, nil}, "size": {short, store.ErrConflict}} {
		if err := l.put(c.first); err != nil {
			l.t.Fatal(err)
		}
		if err := l.put(piece(data, 100, 400)); !errors.Is(err, c.next) {
			l.t.Errorf("a piece onto other %s: got %v, want %v", what, err, c.next)
		}
		l.noBlob(data)
	}
	if err := l.put(piece(data, 0, 100)); err != nil { // the right size, and what the piece above has left wrong
		l.t.Error(err)
	}
	l.putAll(data, 400)
	l.blob(data)
}

func blobsWrongMiddle(l *ledger) {
	data := content(1000, 8)
	wrong := piece(data, 300, 600)
	wrong.Data = content(300, 9)
	for _, p := range []api.PutRequest{piece(data, 0, 300), wrong, piece(data, 350, 700), piece(data, 200, 400), piece(data, 400, 1000)} {
		l.noBlob(data)
		if err := l.put(p); err != nil {
			l.t.Fatalf("the piece at %d: %v", p.Offset, err)
		}
	}
	l.blob(data)
}

func blobsMalformed(l *ledger) {
	data := content(100, 6)
	for what, change := range map[string]func(*api.PutRequest){
		"no name":            func(p *api.PutRequest) { p.SHA256 = "" },
		"a short name":       func(p *api.PutRequest) { p.SHA256 = p.SHA256[:62] },
		"a name in capitals": func(p *api.PutRequest) { p.SHA256 = "ABCDEF" + p.SHA256[6:] },
		"a name of no hex":   func(p *api.PutRequest) { p.SHA256 = "zz" + p.SHA256[2:] },
		"a negative offset":  func(p *api.PutRequest) { p.Offset = -1 },
		"a negative size":    func(p *api.PutRequest) { p.Size = -1 },
		"too many bytes":     func(p *api.PutRequest) { p.Size = 49 },
		"beyond the end":     func(p *api.PutRequest) { p.Offset = 101 },
		"a huge offset":      func(p *api.PutRequest) { p.Offset = 1<<63 - 1 },
	} {
		p := piece(data, 0, 50)
		change(&p)
		if err := l.put(p); err == nil {
			l.t.Errorf("%s was accepted", what)
		}
	}
	l.noBlob(data)
}

func blobsRace(l *ledger) {
	data := content(2000, 7)
	race(func(i int) { // all the same content, each in pieces of another size
		step := 100 + 37*i
		for at := 0; at < len(data); at += step {
			if err := l.put(piece(data, at, min(at+step, len(data)))); err != nil {
				l.t.Errorf("piece at %d in steps of %d: %v", at, step, err)
			}
		}
	})
	l.blob(data)
}

// blobsProperty puts random pieces, good and wrong, and compares with a slice: whatever
// was tried before, putting the pieces in order ends with the blob.
func blobsProperty(l *ledger) {
	salt := 100
	rapid.Check(l.t, func(t *rapid.T) {
		salt++
		data := content(rapid.IntRange(1, 300).Draw(t, "size"), salt)
		n := len(data)
		for range rapid.IntRange(0, 6).Draw(t, "attempts") {
			from := rapid.IntRange(0, n).Draw(t, "from")
			p := piece(data, from, rapid.IntRange(from, n).Draw(t, "to"))
			if rapid.Bool().Draw(t, "wrong") {
				p.Data = content(len(p.Data), salt+1)
			}
			err := l.put(p)
			if err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrHash) {
				t.Fatalf("piece: %v", err)
			}
		}
		step := rapid.IntRange(1, n).Draw(t, "step")
		if got := l.finish(data, step); !bytes.Equal(got, data) {
			t.Fatalf("got %d bytes, want %d", len(got), n)
		}
		from := rapid.IntRange(0, n).Draw(t, "read from")
		upTo := rapid.IntRange(from, n).Draw(t, "read to")
		got, size, err := l.page(digestOf(data), int64(from), upTo-from)
		if err != nil || size != int64(n) || !bytes.Equal(got, data[from:upTo]) {
			t.Fatalf("%d to %d: got %d of %d bytes, %v", from, upTo, len(got), size, err)
		}
	})
}

// finish puts a blob in order, beginning again when what others have put is in the way,
// and reads it.
func (l *ledger) finish(data []byte, step int) []byte {
	l.t.Helper()
	for range 3 {
		var err error
		for at := 0; at < len(data) && err == nil; at += step {
			err = l.put(piece(data, at, min(at+step, len(data))))
		}
		if err == nil {
			break
		}
	}
	got, _, err := l.page(digestOf(data), 0, len(data))
	if err != nil {
		l.t.Errorf("reading: %v", err)
	}
	return got
}
