package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Blob implements [store.Tx].
func (t *tx) Blob(sha string, offset int64, n int) ([]byte, int64, error) {
	b, err := found(t, t.rows.blobs, sha, "the blob")
	if err == nil && !b.complete {
		err = missing("the whole blob", sha)
	}
	if err == nil && offset < 0 {
		err = fmt.Errorf("%w: a blob from byte %d on", errInvalid, offset)
	}
	if err != nil {
		return nil, 0, err
	}
	from := min(offset, b.size)
	return bytes.Clone(b.data[from:min(from+int64(max(n, 0)), b.size)]), b.size, nil
}

func (t *tx) saveBlobs(b store.Batch) error {
	for _, piece := range b.Blobs {
		if err := t.saveBlob(piece); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) saveBlob(p api.PutRequest) error {
	if raw, err := hex.DecodeString(p.SHA256); err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != p.SHA256 ||
		p.Size < 0 || p.Offset < 0 || p.Offset > p.Size || int64(len(p.Data)) > p.Size-p.Offset {
		return fmt.Errorf("%w: a piece of a blob", errInvalid)
	}
	b, there := t.rows.blobs[p.SHA256]
	if b.complete {
		if b.size != p.Size {
			return conflict("the blob", p.SHA256)
		}
		b.created = t.now()
		putRow(t, t.rows.blobs, p.SHA256, b)
		return nil
	}
	if !there || p.Offset == 0 && b.size != p.Size {
		b = blob{size: p.Size}
	}
	b.created = t.now()
	have := int64(len(b.data))
	if b.size != p.Size || p.Offset > have {
		return conflict("the blob", p.SHA256)
	}
	overlap := min(have-p.Offset, int64(len(p.Data)))
	if bytes.Equal(b.data[p.Offset:p.Offset+overlap], p.Data[:overlap]) {
		b.data = slices.Concat(b.data, p.Data[overlap:])
	} else {
		b.data = slices.Concat(b.data[:p.Offset], p.Data)
	}
	if int64(len(b.data)) == b.size {
		if sum := sha256.Sum256(b.data); hex.EncodeToString(sum[:]) != p.SHA256 {
			t.condemned = append(t.condemned, p.SHA256)
			return fmt.Errorf("%w: %s", store.ErrHash, p.SHA256)
		}
		b.complete = true
	}
	putRow(t, t.rows.blobs, p.SHA256, b)
	return nil
}
