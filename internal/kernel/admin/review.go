package admin

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// Review records an operator's review of a definition: its class and risk, pinned to the reviewed digest.
func (ad *Admin) Review(ctx context.Context, name, digest string, class utp.Class, risk utp.Risk) error {
	return ad.review(ctx, api.ReviewRequest{Tool: name, Digest: digest, Class: class, Risk: risk})
}

func (ad *Admin) review(ctx context.Context, q api.ReviewRequest) error {
	return store.ProtocolError(store.Update(ctx, ad.o.Ledger, func(tx store.Tx) error {
		t, err := store.ReadTool(tx, q.Tool)
		if err != nil {
			return err
		}
		if t.Digest != q.Digest {
			return api.NewFault(utp.CodeConflict, "the definition has changed since it was looked at")
		}
		t.Reviewed, t.Class, t.Risk = true, q.Class, q.Risk
		if t.LastReviewed, err = json.Marshal(t.Definition, jsontext.PreserveRawStrings(true)); err != nil {
			return store.Unexpected("a definition", err)
		}
		return ad.SaveReviewed(tx, t, q.By)
	}))
}

// SaveReviewed saves a reviewed tool, and who reviewed it.
func (ad *Admin) SaveReviewed(tx store.Tx, t store.Tool, by string) error {
	act := reviewAct(t)
	act.By = by
	a, err := ad.Operated(act)
	if err != nil {
		return err
	}
	return tx.Save(store.Batch{Tools: []store.Tool{t}, Acts: a})
}
