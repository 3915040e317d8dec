package kernel

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// putBlob saves a piece of a blob. A blob is named by its hash, so nobody can change what another has
// put.
func (k *Kernel) putBlob(ctx context.Context, from Caller, q api.PutRequest) (struct{}, error) {
	if err := store.CheckChunk(q); err != nil {
		return struct{}{}, err
	}
	if from.Kind == HubCaller {
		from, q.By = Caller{Kind: AgentCaller, Name: q.By}, ""
	}
	return struct{}{}, k.update(ctx, func(tx store.Tx) error {
		if err := k.share(tx, from, int64(len(q.Data))); err != nil {
			return err
		}
		return tx.Save(store.Batch{Blobs: []api.PutRequest{q}})
	})
}

// share counts the bytes that one credential puts in a day, so that none fills the ledger for all
// others. A piece that is put again counts again.
func (k *Kernel) share(tx store.Tx, from Caller, size int64) error {
	used := "bytes of " + from.Kind + " " + from.Name
	today := k.clock.Now().Wall.Unix() / (24 * 60 * 60)
	all, err := tx.Count(used, size) // first: it keeps others from counting for the credential until this transaction ends
	if err != nil {
		return err
	}
	counted, err := tx.Count(used+": day", 0)
	if err == nil && counted != today { // the first piece of a day
		if _, err = tx.Count(used+": day", today-counted); err == nil {
			all, err = tx.Count(used, size-all)
		}
	}
	if err == nil && all > k.o.BytesPerDay {
		return api.NewFault(utp.CodeTooManyBytes, fmt.Sprintf(
			"%q has put %d bytes today, and %d is the most that one credential may put in a day; this piece was not kept; go on tomorrow (UTC), or put less",
			from.Name, all-size, k.o.BytesPerDay))
	}
	return err
}

// getBlob reads a piece of a blob. The hash is the permission: only those who may read the content
// receive it.
func (k *Kernel) getBlob(ctx context.Context, _ Caller, q api.GetRequest) (api.GetAnswer, error) {
	var a api.GetAnswer
	if q.Offset < 0 {
		return a, api.NewFault(utp.CodeBadRequest, "a blob is read from an offset of 0 or more")
	}
	err := k.o.Store.View(ctx, func(tx store.Tx) (err error) {
		a.Data, a.Size, err = tx.Blob(q.SHA256, q.Offset, api.ChunkLimit)
		return err
	})
	return a, err
}
