package ledgersql

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// blob is the row of a blob.
type blob struct {
	sha256     string
	size, have int64
	complete   bool
	running    []byte // the state of the hash over the saved bytes
}

// Blob implements [store.Tx]. An incomplete blob is not found.
func (t *Tx) Blob(sha string, offset int64, n int) ([]byte, int64, error) {
	if err := t.usable(); err != nil {
		return nil, 0, err
	}
	b, err := t.blob(sha)
	if err == nil && !b.complete {
		return nil, 0, fmt.Errorf("%w: the whole blob %s; %d of %d bytes are there", store.ErrNotFound, sha, b.have, b.size)
	}
	if err != nil {
		return nil, 0, t.read(err, "the blob %s", sha)
	}
	if offset < 0 {
		return nil, 0, invalid("reading a blob", fmt.Sprintf("offset %d", offset), "0 or more")
	}
	data, err := t.bytes(sha, offset, min(max(int64(n), 0), b.size-offset))
	return data, b.size, t.read(err, "the blob %s", sha)
}

func (t *Tx) blob(sha string) (blob, error) {
	b := blob{sha256: sha}
	err := t.c.QueryRow(`SELECT size, have, complete, running FROM blobs WHERE sha256 = $1`, []any{sha}, &b.size, &b.have, &b.complete, &b.running)
	return b, err
}

// bytes reads n saved bytes from the pieces that hold them.
func (t *Tx) bytes(sha string, offset, n int64) ([]byte, error) {
	if n <= 0 {
		return nil, nil
	}
	out := make([]byte, 0, n)
	err := t.c.Each(`SELECT start, data FROM blob_chunks WHERE sha256 = $1 AND start < $3 AND start >=
		(SELECT max(start) FROM blob_chunks WHERE sha256 = $1 AND start <= $2) ORDER BY start`, []any{sha, offset, offset + n},
		func(scan func(...any) error) error {
			var start int64
			var data []byte
			if err := scan(&start, &data); err != nil {
				return err
			}
			from := min(max(offset-start, 0), int64(len(data)))
			out = append(out, data[from:min(offset+n-start, int64(len(data)))]...)
			return nil
		})
	return out, err
}

// saveBlobs adds pieces. Each piece, also one that is there already, renews the blob's age, because
// whoever puts it is about to refer to it. In an incomplete blob, a piece that differs from the saved
// bytes replaces them and everything after them. So nobody can block a name with garbage: putting all
// pieces in order always completes the blob. If the hash of the complete blob is not its name, that is
// [store.ErrHash], and all pieces are dropped even though the update is rolled back.
func (t *Tx) saveBlobs(b *store.Batch) error {
	for i := range b.Blobs {
		if err := t.saveBlob(b.Blobs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) saveBlob(p api.PutRequest) error {
	if err := checkChunk(p); err != nil {
		return err
	}
	if err := t.lock("the blob "+p.SHA256, t.d.LockBlob, p.SHA256); err != nil {
		return err
	}
	b, err := t.blob(p.SHA256)
	if err != nil && !noRows(err) {
		return t.c.Border("the blob "+p.SHA256, err)
	}
	there := err == nil
	if b.complete {
		if b.size != p.Size {
			return conflict("the blob %s has %d bytes, not %d", p.SHA256, b.size, p.Size)
		}
		return t.must("the blob "+p.SHA256, `UPDATE blobs SET created = $2 WHERE sha256 = $1`, p.SHA256, stamp(t.now()))
	}
	if !there || (p.Offset == 0 && b.size != p.Size) {
		b = blob{sha256: p.SHA256, size: p.Size}
		if err := t.beginBlob(b); err != nil {
			return err
		}
	}
	data, err := t.unseen(&b, p)
	if err != nil {
		return err
	}
	return t.extend(b, data)
}

func checkChunk(p api.PutRequest) error {
	if raw, err := hex.DecodeString(p.SHA256); err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != p.SHA256 {
		return invalid("saving a blob", fmt.Sprintf("the name %.80q", p.SHA256), "64 lower-case hexadecimal digits")
	}
	if p.Size < 0 || p.Offset < 0 || p.Offset > p.Size || int64(len(p.Data)) > p.Size-p.Offset {
		return invalid("saving a blob", fmt.Sprintf("%d bytes at %d of %d", len(p.Data), p.Offset, p.Size), "a piece within the blob")
	}
	return nil
}

// unseen returns the part of a piece that is not saved yet. Saved bytes that differ are cut off.
func (t *Tx) unseen(b *blob, p api.PutRequest) ([]byte, error) {
	overlap := min(b.have-p.Offset, int64(len(p.Data)))
	switch {
	case b.size != p.Size:
		return nil, conflict("the blob %s was begun with %d bytes, not %d", p.SHA256, b.size, p.Size)
	case overlap < 0:
		return nil, conflict("the blob %s has %d bytes; a piece at %d is out of order", p.SHA256, b.have, p.Offset)
	}
	is, err := t.bytes(p.SHA256, p.Offset, overlap)
	if err != nil {
		return nil, t.c.Border("the blob "+p.SHA256, err)
	}
	if bytes.Equal(is, p.Data[:overlap]) {
		return p.Data[overlap:], nil
	}
	return p.Data, t.cut(b, p.Offset)
}

// cut drops the bytes of a blob from an offset on. The hash must then be computed again.
func (t *Tx) cut(b *blob, at int64) error {
	b.have, b.running = at, nil
	if err := t.exec("the blob "+b.sha256, `DELETE FROM blob_chunks WHERE sha256 = $1 AND start >= $2`, b.sha256, at); err != nil {
		return err
	}
	return t.exec("the blob "+b.sha256, `UPDATE blob_chunks SET data = substr(data, 1, CAST($2 - start AS integer))
		WHERE sha256 = $1 AND start + length(data) > $2`, b.sha256, at)
}

func (t *Tx) beginBlob(b blob) error {
	if err := t.dropBlob(b.sha256); err != nil {
		return err
	}
	return t.exec("the blob "+b.sha256, `INSERT INTO blobs (sha256, size, have, complete, created) VALUES ($1, $2, 0, false, $3)`,
		b.sha256, b.size, stamp(t.now()))
}

// Condemned returns blobs whose content does not match their name. The store removes them with
// [Tx.Drop] after it has rolled the transaction back.
func (t *Tx) Condemned() []string { return t.condemned }

// Drop removes incomplete blobs and their pieces. It may be called after fn has returned.
func (t *Tx) Drop(blobs []string) error {
	for _, sha := range blobs {
		if err := t.lock("the blob "+sha, t.d.LockBlob, sha); err != nil {
			return err
		}
		if err := t.dropBlob(sha); err != nil {
			return err
		}
	}
	return nil
}

// dropBlob removes an incomplete blob and its pieces.
func (t *Tx) dropBlob(sha string) error {
	return t.exec("the blob "+sha, `DELETE FROM blobs WHERE sha256 = $1 AND NOT complete`, sha)
}

// extend appends to a blob and, when the blob is complete, checks its hash against its name. The hash is
// updated with each piece, so that the last piece costs no more than the others.
func (t *Tx) extend(b blob, data []byte) error {
	sum, err := t.resume(b)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		piece := data[:min(len(data), api.ChunkLimit)]
		err := t.exec("the blob "+b.sha256, `INSERT INTO blob_chunks (sha256, start, data) VALUES ($1, $2, $3)`, b.sha256, b.have, piece)
		if err != nil {
			return err
		}
		_, _ = sum.Write(piece) // a hash never fails
		b.have += int64(len(piece))
		data = data[len(piece):]
	}
	if b.have < b.size {
		return t.saveHash(b, sum)
	}
	if is := hex.EncodeToString(sum.Sum(nil)); is != b.sha256 {
		t.condemned = append(t.condemned, b.sha256)
		return fmt.Errorf("%w: the blob %s has the hash %s", store.ErrHash, b.sha256, is)
	}
	return t.must("the blob "+b.sha256, `UPDATE blobs SET have = $2, complete = true, running = NULL, created = $3 WHERE sha256 = $1`,
		b.sha256, b.have, stamp(t.now()))
}

func (t *Tx) saveHash(b blob, sum hash.Hash) error {
	var state []byte
	if m, ok := sum.(encoding.BinaryMarshaler); ok {
		var err error
		if state, err = m.MarshalBinary(); err != nil {
			state = nil // it is computed again from the pieces
		}
	}
	return t.must("the blob "+b.sha256, `UPDATE blobs SET have = $2, running = $3, created = $4 WHERE sha256 = $1`, b.sha256, b.have, state, stamp(t.now()))
}

// resume returns the hash over the saved bytes: from its saved state, or computed over the pieces.
func (t *Tx) resume(b blob) (hash.Hash, error) {
	sum := sha256.New()
	if b.have == 0 {
		return sum, nil
	}
	if u, ok := sum.(encoding.BinaryUnmarshaler); ok && len(b.running) > 0 && u.UnmarshalBinary(b.running) == nil {
		return sum, nil
	}
	sum.Reset()
	for at := int64(0); at < b.have; {
		piece, err := t.bytes(b.sha256, at, min(b.have-at, api.ChunkLimit))
		if err != nil {
			return nil, t.c.Border("the blob "+b.sha256, err)
		}
		if len(piece) == 0 {
			return nil, &Error{
				Kind: ErrCorrupt, Op: "reading the blob " + b.sha256, Err: store.ErrDamaged,
				Found: fmt.Sprintf("no byte at %d", at), Expected: fmt.Sprintf("%d bytes", b.have),
			}
		}
		_, _ = sum.Write(piece)
		at += int64(len(piece))
	}
	return sum, nil
}
