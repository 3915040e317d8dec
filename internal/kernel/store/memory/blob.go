package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Blob implements [store.Tx]. An incomplete blob is not found.
func (t *tx) Blob(sha string, offset int64, n int) ([]byte, int64, error) {
	if err := t.usable(); err != nil {
		return nil, 0, err
	}
	b, is := t.rows.blobs.get(sha)
	switch {
	case !is || !b.complete:
		return nil, 0, missing("the whole blob", sha)
	case offset < 0:
		return nil, 0, invalid("reading a blob", fmt.Sprintf("offset %d", offset), "0 or more")
	case offset >= b.size || n <= 0:
		return nil, b.size, nil
	}
	return bytes.Clone(b.data[offset:min(offset+int64(n), b.size)]), b.size, nil
}

func (t *tx) saveBlobs(b *store.Batch) error {
	for _, piece := range b.Blobs {
		if err := t.saveBlob(piece); err != nil {
			return err
		}
	}
	return nil
}

// saveBlob adds a piece. In an incomplete blob, a piece that differs from the saved bytes replaces them and everything after
// them.
func (t *tx) saveBlob(p api.PutRequest) error {
	if raw, err := hex.DecodeString(p.SHA256); err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != p.SHA256 {
		return invalid("saving a blob", fmt.Sprintf("the name %.80q", p.SHA256), "64 lower-case hexadecimal digits")
	}
	if p.Size < 0 || p.Offset < 0 || p.Offset > p.Size || int64(len(p.Data)) > p.Size-p.Offset {
		return invalid("saving a blob", fmt.Sprintf("%d bytes at %d of %d", len(p.Data), p.Offset, p.Size), "a piece within the blob")
	}
	b, is := t.rows.blobs.get(p.SHA256)
	if !is || !b.complete && p.Offset == 0 && b.size != p.Size {
		b = blob{size: p.Size}
	}
	have := int64(len(b.data))
	if b.size != p.Size || p.Offset > have {
		return conflict("the blob", p.SHA256)
	}
	b.created = micro(t.now())
	if b.complete {
		t.rows.blobs.put(p.SHA256, b)
		return nil
	}
	overlap := min(have-p.Offset, int64(len(p.Data)))
	if bytes.Equal(b.data[p.Offset:p.Offset+overlap], p.Data[:overlap]) {
		b.data = append(b.data, p.Data[overlap:]...)
	} else {
		b.data = slices.Concat(b.data[:p.Offset], p.Data)
	}
	if int64(len(b.data)) == b.size {
		if sum := sha256.Sum256(b.data); hex.EncodeToString(sum[:]) != p.SHA256 {
			t.condemned = append(t.condemned, p.SHA256)
			return fmt.Errorf("%w: the blob %s has the hash %x", store.ErrHash, p.SHA256, sum)
		}
		b.complete = true
	}
	t.rows.blobs.put(p.SHA256, b)
	return nil
}
